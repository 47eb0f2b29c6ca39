import type { BudgetConfig, LimitsConfig } from "@sluice/contract";
import { formatCompact, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/keys.ts";

/** `60/min · 100K tokens/min · 5 concurrent`; empty when there are none. */
export function limitWords({ rpm, tpm, concurrency }: LimitsConfig): string {
  return [
    ...(rpm === undefined ? [] : [t("keys.inShort.rpm", { count: formatCompact(rpm) })]),
    ...(tpm === undefined ? [] : [t("keys.inShort.tpm", { count: formatCompact(tpm) })]),
    ...(concurrency === undefined ? [] : [t("keys.inShort.concurrency", { count: formatCompact(concurrency) })]),
  ].join(" · ");
}

/** `$5.00 per month` */
export function budgetWords({ usd, period }: BudgetConfig): string {
  return t(`keys.budgetShort.${period}`, { amount: formatUsdShort(usd) });
}
