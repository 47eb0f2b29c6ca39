import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Claim, Counter } from "#ports/index.ts";
import type { FakeClock } from "../fake-clock.ts";
import { budgetClaim } from "./counter-claims.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** A claim on the last 60 minutes, `minute` minutes after the start of the test. */
function rollingClaim(limit: number, amount: number, minute: number, least = amount): Claim {
  const bucket = base + minute * minuteMs;
  return {
    ...{ ...budgetClaim("budget:rolling-hour:key:k", limit, amount, -hourMs), least },
    ...{ windowMs: minuteMs, rollingFrom: bucket - hourMs },
  };
}

const base = Math.floor(Date.UTC(2026, 4, 10) / minuteMs) * minuteMs;
const cost = (attemptId: string, amount: number, minute: number) => ({
  ...{ attemptId, amount },
  bucket: base + minute * minuteMs,
});
const { key } = rollingClaim(1, 1, 0);

/** Budgets of rolling windows. */
export function rollingTests(createCounter: () => Promise<{ clock: FakeClock; counter: Counter }>): void {
  const loaded = async (buckets: readonly (readonly [number, number])[] = []) => {
    const { counter } = await createCounter();
    await counter.beginPeriod(key, -hourMs, true);
    await counter.setSpending(key, -hourMs, {
      amount: buckets.reduce((sum, [, amount]) => sum + amount, 0),
      buckets: buckets.map(([minute, amount]) => [base + minute * minuteMs, amount] as const),
      ...{ recent: [], cleanFrom: Number.POSITIVE_INFINITY, again: true },
    });
    return counter;
  };

  test("counts spending in a rolling window until its bucket leaves, and returns when enough does", async () => {
    const counter = await loaded([[0, 30]]);
    await counter.spend(key, -hourMs, cost("a", 40, 10));
    await counter.spend(key, -hourMs, cost("b", 20, 10));
    expect(await counter.peek(rollingClaim(100, 0, 10))).toMatchObject({ used: 90, held: 0 });
    const refused = await counter.reserve([rollingClaim(100, 50, 11)]);
    // 50 more fit once the buckets of minute 0 and 10 have left, which is in the minute 71.
    expect(refused).toMatchObject({ granted: false, reason: "limit", state: { used: 90, freeInMs: 60 * minuteMs } });
    expect(await counter.peek(rollingClaim(100, 0, 60))).toMatchObject({ used: 90 });
    expect(await counter.peek(rollingClaim(100, 0, 61))).toMatchObject({ used: 60 });
    const held = await counter.reserve([rollingClaim(100, 40, 61)]);
    expect(held).toMatchObject({ granted: true });
    expect(await counter.peek(rollingClaim(100, 0, 71))).toMatchObject({ used: 40, held: 40 });
    // A cost of a bucket that has left counts no more.
    await counter.spend(key, -hourMs, cost("late", 5, 10));
    if (held.granted) await counter.settle(held.ticket, [0]);
    expect(await counter.peek(rollingClaim(100, 0, 71))).toMatchObject({ used: 0, held: 0 });
  });

  test("counts each attempt of a rolling window once, in its bucket, while the ledger is read", async () => {
    const { counter } = await createCounter();
    await counter.beginPeriod(key, -hourMs, true);
    await counter.spend(key, -hourMs, cost("both", 7, 5));
    await counter.spend(key, -hourMs, cost("later", 3, 6));
    await counter.setSpending(key, -hourMs, {
      amount: 19,
      buckets: [
        [base, 10],
        [base + 5 * minuteMs, 9],
      ],
      recent: [cost("both", 7, 5), cost("ahead", 2, 5)],
      ...{ cleanFrom: Number.POSITIVE_INFINITY, again: true },
    });
    await counter.spend(key, -hourMs, cost("ahead", 2, 5));
    const usedAt = async (minute: number) => (await counter.peek(rollingClaim(100, 0, minute))).used;
    expect(await usedAt(6)).toBe(22);
    expect(await usedAt(61)).toBe(12);
    expect(await usedAt(66)).toBe(3);
    expect(await usedAt(67)).toBe(0);
  });

  test("never admits more than the limit within any 60 minutes", async () => {
    const steps = fc.array(
      fc.record({ after: fc.integer({ min: 0, max: 40 }), amount: fc.integer({ min: 1, max: 60 }) }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const counter = await loaded();
        const spent: { readonly minute: number; readonly amount: number }[] = [];
        let minute = 0;
        for (const [index, { after, amount }] of plan.entries()) {
          minute += after;
          const answer = await counter.reserve([rollingClaim(100, amount, minute)]);
          if (!answer.granted) continue;
          await counter.spend(key, -hourMs, cost(`att_${index}`, amount, minute));
          await counter.settle(answer.ticket, [0]);
          spent.push({ minute, amount });
        }
        for (const { minute: from } of spent) {
          const within = spent.filter((each) => each.minute >= from && each.minute < from + 60);
          expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 12 },
    );
  });
}
