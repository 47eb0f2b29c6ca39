import type { Claim } from "#ports/index.ts";

export const windowClaim = (key: string, limit: number, amount = 1): Claim => ({
  kind: "window",
  key,
  limit,
  amount,
  least: amount,
  windowMs: 60_000,
  periodStart: 0,
  fail: "closed",
});

export const gaugeClaim = (key: string, limit: number): Claim => ({ ...windowClaim(key, limit), kind: "gauge" });

export const budgetClaim = (key: string, limit: number, amount: number, periodStart = 0): Claim => ({
  ...windowClaim(key, limit, amount),
  kind: "budget",
  periodStart,
});
