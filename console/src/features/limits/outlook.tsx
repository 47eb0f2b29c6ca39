import type { LimitUsageRow } from "@sluice/contract";
import { formatMoment } from "../../client/format.ts";
import { Nothing, When } from "../../components/figures.tsx";
import { Rich, t } from "../../language/areas/limits.ts";
import { locale } from "../../language/chosen.ts";
import { type Outlook, outlookOf } from "./limit-usage-words.ts";

const tones: Readonly<Record<Outlook["kind"], "bad" | "warn" | undefined>> = {
  exhausted: "bad",
  refusing: "bad",
  "runs-out": "warn",
  projected: undefined,
  idle: undefined,
};

/** The forecast of a budget at the pace of the last seven days. */
export function OutlookText({ row }: { readonly row: LimitUsageRow }) {
  const outlook = outlookOf(row);
  if (outlook === null) return <Nothing word={t("limits.forecast.none")} />;
  return (
    <span className="outlook" data-tone={tones[outlook.kind]}>
      {row.enforce ? <Words outlook={outlook} /> : <ShadowWords outlook={outlook} />}
    </span>
  );
}

function Words({ outlook }: { readonly outlook: Outlook }) {
  switch (outlook.kind) {
    case "exhausted":
      return t("limits.forecast.exhausted");
    case "idle":
      return t("limits.forecast.idle");
    case "projected":
      return outlook.words;
    case "refusing":
      return (
        <Rich
          text="limits.forecast.refusing"
          values={{ left: outlook.left }}
          tags={{ when: () => <When at={outlook.at} /> }}
        />
      );
    case "runs-out":
      return <Rich text="limits.forecast.runsOut" tags={{ when: () => <Soon at={outlook.at} /> }} />;
  }
}

/** A shadow limit refuses nothing. */
function ShadowWords({ outlook }: { readonly outlook: Outlook }) {
  if (outlook.kind === "exhausted") return t("limits.shadow.exhausted");
  if (outlook.kind === "refusing") return t("limits.shadow.refusing", { left: outlook.left });
  return <Words outlook={outlook} />;
}

function Soon({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={formatMoment(at)}>
      {soon.format(at)}
    </time>
  );
}

const soon = new Intl.DateTimeFormat(locale, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** When the limit resets; for budgets the date, because "next month" is too vague. */
export function Resets({ row }: { readonly row: LimitUsageRow }) {
  if (row.kind === "concurrency") return t("limits.resetsAs.requestsEnd");
  if (row.kind !== "budget") return t("limits.resetsAs.minute");
  if (row.resets_at === null) return t("limits.never");
  return (
    <time dateTime={new Date(row.resets_at).toISOString()} title={formatMoment(row.resets_at)} className="nowrap">
      {days.format(row.resets_at)}
    </time>
  );
}

const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
