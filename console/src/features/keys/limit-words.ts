import type { BudgetConfig, LimitsConfig } from "@sluice/contract";
import { formatCount, formatUsd } from "../../client/format.ts";
import { t } from "../../language/areas/keys.ts";

/** Settings are never rounded: `60/min · 100,000 tokens/min · 5 concurrent`; empty when there are none. */
export function limitWords({ rpm, tpm, concurrency }: LimitsConfig): string {
  return [
    ...(rpm === undefined ? [] : [t("keys.inShort.rpm", { count: formatCount(rpm) })]),
    ...(tpm === undefined ? [] : [t("keys.inShort.tpm", { count: formatCount(tpm) })]),
    ...(concurrency === undefined ? [] : [t("keys.inShort.concurrency", { count: formatCount(concurrency) })]),
  ].join(" · ");
}

/** `$5.00 per month` */
export function budgetWords({ usd, period }: BudgetConfig): string {
  return t(`keys.budgetShort.${period}`, { amount: formatUsd(usd) });
}
