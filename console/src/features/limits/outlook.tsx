import type { LimitUsageRow } from "@sluice/contract";
import { formatMoment } from "../../client/format.ts";
import { Nothing, When } from "../../components/figures.tsx";
import { t } from "../../language/areas/limits.ts";
import { outlookOf } from "./limit-usage-words.ts";

/** Where a budget is going, if it goes on as in the last seven days. */
export function OutlookText({ row }: { readonly row: LimitUsageRow }) {
  const outlook = outlookOf(row);
  if (outlook === null) return <Nothing word={t("limits.noForecastOnlyBudgetsHave")} />;
  const { tone, words, exhaustedAt } = outlook;
  return (
    <span className="outlook" data-tone={tone ?? undefined}>
      {words}
      {exhaustedAt !== null && (
        <>
          {" "}
          <time dateTime={new Date(exhaustedAt).toISOString()} title={formatMoment(exhaustedAt)}>
            {soon.format(exhaustedAt)}
          </time>
        </>
      )}
    </span>
  );
}

const soon = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** When some of it is free again. */
export function Resets({ row }: { readonly row: LimitUsageRow }) {
  if (row.kind === "budget") return row.resets_at === null ? t("limits.never") : <When at={row.resets_at} />;
  if (row.kind === "concurrency") return t("limits.asCallsEnd");
  return t("limits.eachMinute");
}
