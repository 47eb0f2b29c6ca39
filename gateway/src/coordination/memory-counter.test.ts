import { expect, test } from "bun:test";
import { budgetClaim, gaugeClaim, windowClaim } from "../../test/conformance/counter-claims.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { createMemoryCounter, type MemoryCounter } from "./memory-counter.ts";

function meet(counter: MemoryCounter, key: string, again = false): void {
  expect(counter.beginPeriod(key, 0)).toBe("unknown");
  counter.setSpending(key, 0, { amount: 0, recent: [], cleanFrom: Number.POSITIVE_INFINITY, again });
}

test("refuses new claims when full, or admits them if the limit fails open, and evicts no tally in use", () => {
  const counter = createMemoryCounter({ clock: new FakeClock(), countersMax: 2 });
  meet(counter, "a");
  expect(counter.reserve([budgetClaim("a", 10, 10), gaugeClaim("b", 1)])).toMatchObject({ granted: true });
  expect(counter.reserve([windowClaim("c", 5)])).toMatchObject({ granted: false, index: 0 });
  expect(counter.reserve([{ ...windowClaim("c", 5), fail: "open" }])).toMatchObject({ granted: true });
  expect(counter.reserve([budgetClaim("a", 10, 0)])).toMatchObject({ granted: false });
  expect(counter.reserve([gaugeClaim("b", 1)])).toMatchObject({ granted: false });
});

test("evicts idle tallies to make room, however many keys are used", () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock, countersMax: 50 });
  for (let key = 0; key < 5_000; key++) {
    clock.advance(2_000);
    const answer = counter.reserve([windowClaim(`w${key}`, 5), gaugeClaim(`g${key}`, 5)]);
    if (answer instanceof Promise || !answer.granted) throw new Error(`key ${key} found no room`);
    counter.settle(answer.ticket, [1, 0]);
  }
  expect(counter.outstanding).toBe(0);
});

test("keeps idle tallies up to idleMax", () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock, idleMax: 50 });
  for (let key = 0; key < 500; key++) {
    clock.advance(120_000);
    const answer = counter.reserve([windowClaim(`w${key}`, 5)]);
    if (answer instanceof Promise || !answer.granted) throw new Error("refused");
    counter.settle(answer.ticket, [1]);
    if (key < 50) expect(counter.size).toBe(key + 1);
  }
  expect(counter.size).toBeLessThan(60);
});

test("settles a reservation of zero in full, even if its tally was idle meanwhile", () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock, countersMax: 3 });
  meet(counter, "b");
  const answer = counter.reserve([windowClaim("w", 100, 0), budgetClaim("b", 100, 0)]);
  if (answer instanceof Promise || !answer.granted) throw new Error("refused");
  for (let key = 0; key < 100; key++) {
    const other = counter.reserve([gaugeClaim(`g${key}`, 1)]);
    if (other instanceof Promise || !other.granted) throw new Error("refused");
    counter.settle(other.ticket, [0]);
  }
  counter.spend("b", 0, { attemptId: "att_1", amount: 80 });
  counter.settle(answer.ticket, [70, 0]);
  expect(counter.peek(windowClaim("w", 100))).toMatchObject({ used: 70 });
  expect(counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 80 });
});

test("evicts unused budgets that the ledger knows when full, and logs when there is no room at all", () => {
  const clock = new FakeClock();
  const messages: string[] = [];
  const observer = { log: (_level: string, message: string) => void messages.push(message) };
  const counter = createMemoryCounter({ clock, countersMax: 3, observer });
  for (const key of ["a", "b", "c"]) meet(counter, key, true);
  expect(counter.beginPeriod("d", 0)).toBe("full");
  expect(counter.beginPeriod("e", 0)).toBe("full");
  expect([messages.length, counter.rejected, counter.size]).toEqual([1, 2, 3]);
  const answer = counter.reserve([budgetClaim("a", 10, 1)]);
  if (answer instanceof Promise || !answer.granted) throw new Error("refused");
  clock.advance(10_000);
  expect(counter.beginPeriod("d", 0)).toBe("unknown");
  expect(counter.peek(budgetClaim("a", 10, 0)).valueOf()).toMatchObject({ used: 1 });
});

test("tops up a budget with fail: open while its spending is being read", () => {
  const counter = createMemoryCounter({ clock: new FakeClock() });
  meet(counter, "b");
  const answer = counter.reserve([{ ...budgetClaim("b", 100, 10), fail: "open" }]);
  if (answer instanceof Promise || !answer.granted) throw new Error("refused");
  counter.invalidateSpending([{ key: "b", periodStart: 0 }]);
  expect(counter.topUp(answer.ticket, 20, 1)).toBe(20);
});
