import type { BudgetConfig, LimitsConfig } from "@sluice/contract";
import { formatCompact, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/keys.ts";

/** `60/min · 100K tokens/min · 5 at once`; empty when there are none. */
export function limitWords({ rpm, tpm, concurrency }: LimitsConfig): string {
  return [
    ...(rpm === undefined ? [] : [`${formatCompact(rpm)}/min`]),
    ...(tpm === undefined ? [] : [`${formatCompact(tpm)} tokens/min`]),
    ...(concurrency === undefined ? [] : [t("keys.atOnce", { concurrency: formatCompact(concurrency) })]),
  ].join(" · ");
}

const periodWords = { day: "a day", week: "a week", month: "a month", total: t("keys.inTotal") } as const;

/** `$5.00 a month` */
export function budgetWords({ usd, period }: BudgetConfig): string {
  return `${formatUsdShort(usd)} ${periodWords[period]}`;
}
