import { expect, test } from "bun:test";
import type { Claim, Counter, Reserved } from "#ports/index.ts";
import { budgetClaim } from "./counter-claims.ts";

/**
 * Reservations of a budget whose spending is being read again. `granted` reserves like the suite does for a new budget.
 */
export function rereadTests(
  create: () => Promise<{ counter: Counter }>,
  granted: (counter: Counter, claims: readonly Claim[]) => Promise<Reserved>,
): void {
  test("reserves no more of a budget while its spending is read again, unless it has no limit", async () => {
    const { counter } = await create();
    const { ticket } = await granted(counter, [budgetClaim("b", 100, 10)]);
    const unlimited = await granted(counter, [budgetClaim("b", Number.POSITIVE_INFINITY, 10)]);
    const spent = { attemptId: "att_reread", amount: 70 };
    await counter.spend("b", 0, spent);
    await counter.invalidateSpending([{ key: "b", periodStart: 0 }]);
    expect(await counter.topUp(ticket, 10, 1)).toBe(0);
    await counter.beginPeriod("b", 0, true);
    expect(await counter.topUp(ticket, 10, 1)).toBe(0);
    expect(await counter.topUp(unlimited.ticket, 3, 1)).toBe(3);
    await counter.setSpending("b", 0, {
      amount: 70,
      recent: [spent],
      cleanFrom: Number.POSITIVE_INFINITY,
      again: true,
    });
    expect(await counter.topUp(ticket, 10, 1)).toBe(7);
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 100, held: 30 });
  });

  test("ignores a reading that began before more entries arrived, and requires another one", async () => {
    const { counter } = await create();
    await granted(counter, [budgetClaim("b", 100, 10)]);
    const budget = { key: "b", periodStart: 0 };
    const read = { recent: [], cleanFrom: Number.POSITIVE_INFINITY, again: true };
    await counter.invalidateSpending([budget]);
    await counter.beginPeriod("b", 0, true);
    await counter.invalidateSpending([budget]);
    await counter.setSpending("b", 0, { ...read, amount: 5 });
    expect(await counter.beginPeriod("b", 0, true)).toBe("unknown");
    await counter.setSpending("b", 0, { ...read, amount: 70 });
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 80, held: 10 });
  });
}
