import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import { usdMax } from "@sluice/contract/words";
import { type Loose, numberIn } from "./loose.ts";

const periods: Readonly<Record<string, BudgetConfig["period"]>> = {
  "60m": "hour",
  "1h": "hour",
  hourly: "hour",
  "24h": "day",
  "1d": "day",
  daily: "day",
  "7d": "week",
  "1w": "week",
  weekly: "week",
  "30d": "month",
  "1mo": "month",
  "1M": "month",
  monthly: "month",
};

/** The period of a budget that resets this often; null: no period matches. Without a reset: `total`. */
export function periodOf(reset: string | null): BudgetConfig["period"] | null {
  return reset === null ? "total" : (periods[reset] ?? null);
}

/** Whole nano-USD, as budgets are counted. */
export function usdOf(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}

/** The amount of a budget, at most the largest that a budget may have. */
export function budgetUsdOf(amount: number): number {
  return Math.min(usdMax, usdOf(amount));
}

/** Limits of positive whole numbers; a larger one than any is no limit. */
export function limitsIn(
  row: Loose,
  names: { readonly rpm?: string; readonly tpm?: string; readonly concurrency?: string },
): LimitsConfig {
  const limits: LimitsConfig = {};
  for (const [limit, name] of Object.entries(names) as [keyof typeof names, string][]) {
    const value = numberIn(row, name);
    if (value !== null && value >= 1 && value <= 1e12) limits[limit] = Math.floor(value);
  }
  return limits;
}
