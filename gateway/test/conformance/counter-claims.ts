import type { Claim, Counter } from "#ports/index.ts";

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

/** The same counter, where every reservation belongs to a call and may therefore be served from a leased share. */
export function asCalls<T extends Counter>(counter: T): T {
  return new Proxy(counter, {
    get(target, name) {
      if (name === "reserve") return (claims: readonly Claim[], id?: string) => target.reserve(claims, id, true);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
