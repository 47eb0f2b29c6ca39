import { useCall } from "../../api/use-call.ts";
import { Count, Money } from "../../components/figures.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { useTimeRange } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/people.ts";
import { monthsBefore } from "../own-usage/months.ts";

interface MonthFiguresProps {
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  readonly of: { readonly person: string } | { readonly group: string };
}

/** Spend, requests and tokens of this month and the previous one, in UTC. */
export function MonthFigures({ workspace, of }: MonthFiguresProps) {
  const { to } = useTimeRange("30d");
  const [previous, current] = [monthsBefore(to, 1), monthsBefore(to, 0)];
  const params = { workspace };
  const now = useCall("usage.series", { params, query: { from: current, to, step: "day", ...of } });
  const before = useCall("usage.series", { params, query: { from: previous, to: current, step: "day", ...of } });
  const month = now.data?.totals;
  const last = before.data?.totals;
  return (
    <Stats label={t("people.month.title")}>
      <Stat label={t("people.month.spend")} value={month && <Money usd={month.cost_usd} short />} />
      <Stat label={t("people.month.previous")} value={last && <Money usd={last.cost_usd} short />} />
      <Stat label={t("people.month.requests")} value={month && <Count value={month.requests} short />} />
      <Stat
        label={t("people.month.tokens")}
        value={month && <Count value={month.input_tokens + month.output_tokens} short />}
      />
    </Stats>
  );
}
