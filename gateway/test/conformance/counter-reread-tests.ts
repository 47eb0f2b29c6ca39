import { expect, test } from "bun:test";
import type { Claim, Counter, Reserved } from "#ports/index.ts";
import { budgetClaim } from "./counter-claims.ts";

/** What is held of a budget while what it has spent is read anew. `granted`: as the suite meets a budget for the first time. */
export function rereadTests(
  made: () => Promise<{ counter: Counter }>,
  granted: (counter: Counter, claims: readonly Claim[]) => Promise<Reserved>,
): void {
  test("while what a budget has spent is read anew no more of it is held, unless without a limit", async () => {
    const { counter } = await made();
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

  test("a reading that began before more came into the ledger does not count: it is to be made again", async () => {
    const { counter } = await made();
    await granted(counter, [budgetClaim("b", 100, 10)]);
    const later = { key: "b", periodStart: 0 };
    const read = { recent: [], cleanFrom: Number.POSITIVE_INFINITY, again: true };
    await counter.invalidateSpending([later]);
    await counter.beginPeriod("b", 0, true);
    await counter.invalidateSpending([later]);
    await counter.setSpending("b", 0, { ...read, amount: 5 });
    expect(await counter.beginPeriod("b", 0, true)).toBe("unknown");
    await counter.setSpending("b", 0, { ...read, amount: 70 });
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 80, held: 10 });
  });
}
