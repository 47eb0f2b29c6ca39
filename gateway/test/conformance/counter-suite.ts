import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AttemptCost, Claim, Counter, Refused, Reserved, Spending } from "#ports/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "./counter-claims.ts";
import { rereadTests } from "./counter-reread-tests.ts";
import { rollingTests } from "./counter-rolling-tests.ts";

/** Creates an empty counter that runs on `clock`. */
export type CounterFactory = (clock: FakeClock) => Counter | Promise<Counter>;

/** Guarantees of every implementation of the port `Counter`. */
export function counterSuite(name: string, create: CounterFactory): void {
  describe(`counter: ${name}`, () => {
    const createCounter = async (): Promise<{ clock: FakeClock; counter: Counter }> => {
      const clock = new FakeClock();
      return { clock, counter: await create(clock) };
    };
    admissionTests(createCounter);
    windowTests(createCounter);
    budgetTests(createCounter);
    rollingTests(createCounter);
    rereadTests(createCounter, granted);
    conservationTests(createCounter);
  });
}

let attempts = 0;
const costOf = (amount: number): AttemptCost => ({ attemptId: `att_${++attempts}`, amount });

/** A reading of the ledger with only old entries. */
const reading = (amount: number, more: Partial<Spending> = {}): Spending => ({
  amount,
  recent: [],
  cleanFrom: Number.POSITIVE_INFINITY,
  again: true,
  ...more,
});

type CreateCounter = () => Promise<{ clock: FakeClock; counter: Counter }>;

/** Reserves like limits do. A new budget has no spending here. */
async function reserve(counter: Counter, claims: readonly Claim[]): Promise<Reserved | Refused> {
  for (const { kind, key, periodStart } of claims) {
    if (kind !== "budget" || (await counter.beginPeriod(key, periodStart)) !== "unknown") continue;
    await counter.setSpending(key, periodStart, reading(0, { again: false }));
  }
  return await counter.reserve(claims);
}

async function granted(counter: Counter, claims: readonly Claim[]): Promise<Reserved> {
  const answer = await reserve(counter, claims);
  if (!answer.granted) throw new Error(`claim ${answer.index} was refused at ${answer.state.used}`);
  return answer;
}

async function refused(counter: Counter, claims: readonly Claim[]): Promise<Refused> {
  const answer = await reserve(counter, claims);
  if (answer.granted) throw new Error("the claims were granted");
  return answer;
}

const usedOf = async (counter: Counter, claim: Claim): Promise<number> => (await counter.peek(claim)).used;

function admissionTests(createCounter: CreateCounter): void {
  test("grants exactly N of many concurrent claims with limit N, for every kind of limit", async () => {
    for (const claim of [windowClaim("k", 7), gaugeClaim("k", 7), budgetClaim("k", 7, 1)]) {
      const { counter } = await createCounter();
      const answers = await Promise.all(Array.from({ length: 40 }, () => reserve(counter, [claim])));
      expect(answers.filter((answer) => answer.granted)).toHaveLength(7);
      expect(counter.outstanding).toBe(7);
    }
  });

  test("names the claim that was refused, and reserves nothing for any claim", async () => {
    const { counter } = await createCounter();
    const claims = [windowClaim("a", 5), budgetClaim("b", 5, 1), gaugeClaim("c", 1)];
    await granted(counter, claims);
    const answer = await refused(counter, claims);
    expect(answer.index).toBe(2);
    expect(answer.state.used).toBe(1);
    expect(await Promise.all(claims.map((claim) => usedOf(counter, claim)))).toEqual([1, 1, 1]);
  });

  test("counts two claims on one counter in one call together", async () => {
    const { counter } = await createCounter();
    expect((await refused(counter, [gaugeClaim("k", 1), gaugeClaim("k", 1)])).index).toBe(1);
    await granted(counter, [gaugeClaim("k", 2), gaugeClaim("k", 2)]);
  });

  test("counts the same key separately for each kind", async () => {
    const { counter } = await createCounter();
    await granted(counter, [windowClaim("k", 1)]);
    await granted(counter, [gaugeClaim("k", 1)]);
    await granted(counter, [budgetClaim("k", 1, 1)]);
  });

  test("returns the state of each claim after a reservation", async () => {
    const { counter } = await createCounter();
    await granted(counter, [windowClaim("k", 10, 4), gaugeClaim("k", 3)]);
    const { states } = await granted(counter, [windowClaim("k", 10, 4), gaugeClaim("k", 3)]);
    expect(states.map(({ used, limit }) => [used, limit])).toEqual([
      [8, 10],
      [2, 3],
    ]);
    expect(states[1]?.freeInMs).toBe(0);
  });

  test("neither reserves nor creates anything when a claim is peeked", async () => {
    const { counter } = await createCounter();
    expect(await counter.peek(windowClaim("k", 1))).toEqual({ used: 0, limit: 1, freeInMs: 0 });
    await granted(counter, [windowClaim("k", 1)]);
    expect(await usedOf(counter, windowClaim("k", 1))).toBe(1);
  });

  test("refuses an amount that is not a number", async () => {
    const { counter } = await createCounter();
    await refused(counter, [windowClaim("k", 10, Number.NaN)]);
    await refused(counter, [budgetClaim("k", 10, Number.NaN)]);
    expect(await usedOf(counter, windowClaim("k", 10))).toBe(0);
  });
}

function windowTests(createCounter: CreateCounter): void {
  test("never admits more than the limit within any span of 60 s", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), amount: fc.integer({ min: 1, max: 4 }) }), {
          maxLength: 60,
        }),
        async (steps) => {
          const { clock, counter } = await createCounter();
          const admitted: { readonly at: number; readonly amount: number }[] = [];
          for (const { afterMs, amount } of steps) {
            clock.advance(afterMs);
            if ((await counter.reserve([windowClaim("k", 10, amount)])).granted) {
              admitted.push({ at: clock.monotonic(), amount });
            }
          }
          for (const { at } of admitted) {
            const inSpan = admitted.filter((other) => other.at >= at && other.at < at + 60_000);
            expect(inSpan.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(10);
          }
        },
      ),
      { numRuns: 60, seed: 1 },
    );
  });

  test("admits a refused window claim exactly after freeInMs, and not a second earlier", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 10, maxLength: 10 }),
        fc.integer({ min: 1, max: 10 }),
        async (gapsMs, amount) => {
          const { clock, counter } = await createCounter();
          for (const gapMs of gapsMs) {
            clock.advance(gapMs);
            await granted(counter, [windowClaim("k", 10)]);
          }
          const { state } = await refused(counter, [windowClaim("k", 10, amount)]);
          expect(state.freeInMs).toBeGreaterThan(0);
          expect(state.freeInMs).toBeLessThanOrEqual(61_000);
          if (state.freeInMs > 1_000) {
            clock.advance(state.freeInMs - 1_000);
            expect((await counter.peek(windowClaim("k", 10, amount))).freeInMs).toBeCloseTo(1_000, 6);
            await refused(counter, [windowClaim("k", 10, amount)]);
          }
          clock.advance((await counter.peek(windowClaim("k", 10, amount))).freeInMs);
          await granted(counter, [windowClaim("k", 10, amount)]);
        },
      ),
      { numRuns: 40, seed: 2 },
    );
  });

  test("frees nothing when the wall clock is set an hour back or forward", async () => {
    const { clock, counter } = await createCounter();
    await granted(counter, [windowClaim("k", 1)]);
    clock.jump(3_600_000);
    await refused(counter, [windowClaim("k", 1)]);
    clock.jump(-7_200_000);
    await refused(counter, [windowClaim("k", 1)]);
  });

  test("counts usage beyond a reservation at settlement, and removes unused amounts at reservation time", async () => {
    const { clock, counter } = await createCounter();
    const more = await granted(counter, [windowClaim("k", 100, 10)]);
    const less = await granted(counter, [windowClaim("k", 100, 20)]);
    clock.advance(30_000);
    await counter.settle(more.ticket, [60]);
    await counter.settle(less.ticket, [5]);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(65);
    // The reservations have left the window, but not the usage that was settled half a minute later.
    clock.advance(31_000);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(50);
    clock.advance(30_000);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(0);
  });

  test("counts all usage beyond its reservation when a call lasts longer than the window", async () => {
    const { clock, counter } = await createCounter();
    const long = await granted(counter, [windowClaim("k", 100, 10)]);
    const unused = await granted(counter, [windowClaim("k", 100, 10)]);
    clock.advance(62_000);
    await counter.settle(long.ticket, [90]);
    // Nothing is subtracted for a reservation that has left the window.
    await counter.settle(unused.ticket, [0]);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(80);
    await refused(counter, [windowClaim("k", 100, 30)]);
    clock.advance(61_000);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(0);
  });

  test("counts seeded usage at its original time", async () => {
    const { clock, counter } = await createCounter();
    clock.advance(5_000);
    await counter.seed("k", 3, clock.now() - 50_000, 60_000);
    await counter.seed("k", 2, clock.now() - 1_000, 60_000);
    await counter.seed("k", 9, clock.now() - 62_000, 60_000);
    expect(await usedOf(counter, windowClaim("k", 10))).toBe(5);
    // The oldest bucket that counts, and the one before it.
    await counter.seed("edge", 4, clock.now() - 60_000, 60_000);
    await counter.seed("edge", 9, clock.now() - 60_500, 60_000);
    expect(await usedOf(counter, windowClaim("edge", 10))).toBe(4);
    clock.advance(11_500);
    expect(await usedOf(counter, windowClaim("k", 10))).toBe(2);
  });
}

function budgetTests(createCounter: CreateCounter): void {
  test("admits what fits into the rest of a budget, and nothing once it is spent", async () => {
    const { counter } = await createCounter();
    await granted(counter, [budgetClaim("b", 100, 60)]);
    await refused(counter, [budgetClaim("b", 100, 41)]);
    await granted(counter, [budgetClaim("b", 100, 40)]);
    await refused(counter, [budgetClaim("b", 100, 0)]);
    await refused(counter, [budgetClaim("none", 0, 0)]);
  });

  test("counts spending at once, and releases the reservation at settlement", async () => {
    const { counter } = await createCounter();
    const cheapCall = await granted(counter, [budgetClaim("b", 100, 60)]);
    await counter.spend("b", 0, costOf(5));
    expect(await usedOf(counter, budgetClaim("b", 100, 0))).toBe(65);
    await counter.settle(cheapCall.ticket, [0]);
    const expensiveCall = await granted(counter, [budgetClaim("b", 100, 95)]);
    await counter.spend("b", 0, costOf(130));
    await counter.settle(expensiveCall.ticket, [0]);
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 135, held: 0 });
    await refused(counter, [budgetClaim("b", 100, 0)]);
  });

  test("refuses a budget with unknown spending, but reserves amounts without a limit", async () => {
    const { counter } = await createCounter();
    expect(await counter.reserve([budgetClaim("b", 100, 1)])).toMatchObject({ granted: false, reason: "unknown" });
    expect(await counter.beginPeriod("b", 0)).toBe("unknown");
    expect(await counter.reserve([budgetClaim("b", 100, 1)])).toMatchObject({ granted: false, reason: "unknown" });
    expect(await counter.reserve([budgetClaim("b", Number.POSITIVE_INFINITY, 30)])).toMatchObject({ granted: true });
    await counter.setSpending("b", 0, reading(20));
    expect(await counter.beginPeriod("b", 0)).toBe("known");
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 50, held: 30 });
  });

  test("adds spending during a reading to its result, and ignores a second reading", async () => {
    const { counter } = await createCounter();
    await counter.beginPeriod("b", 0);
    await counter.spend("b", 0, costOf(7));
    for (const amount of [70, 500]) await counter.setSpending("b", 0, reading(amount));
    expect(await usedOf(counter, budgetClaim("b", 100, 0))).toBe(77);
    expect(await counter.spend("none", 0, costOf(1))).toBe(false);
    await counter.beginPeriod("b", 0, true);
    expect(await usedOf(counter, budgetClaim("b", 100, 0))).toBe(77);
    await counter.beginPeriod("again", 0);
    const latest = costOf(7);
    await counter.spend("again", 0, latest);
    await counter.beginPeriod("again", 0, true);
    await counter.spend("again", 0, costOf(2));
    await counter.setSpending("again", 0, reading(7, { recent: [latest] }));
    expect(await usedOf(counter, budgetClaim("again", 100, 0))).toBe(9);
  });

  test("reserves the available part on all budgets when a claim accepts less, and otherwise all or nothing", async () => {
    const { counter } = await createCounter();
    const claims = (amount: number, least: number) => [
      { ...budgetClaim("wide", 1_000, amount), least },
      { ...budgetClaim("tight", 100, amount), least },
    ];
    expect((await granted(counter, claims(60, 60))).held).toBe(60);
    const some = await granted(counter, claims(500, 10));
    expect(some.held).toBe(40);
    expect((await refused(counter, claims(500, 10))).reason).toBe("limit");
    expect(await usedOf(counter, budgetClaim("wide", 1_000, 0))).toBe(100);
    await counter.settle(some.ticket, [0, 0]);
    await refused(counter, claims(500, 41));
  });

  test("tops up with the rest of all budgets, and with nothing when less than the minimum is left", async () => {
    const { counter } = await createCounter();
    const { ticket, held } = await granted(counter, [budgetClaim("wide", 1_000, 10), budgetClaim("tight", 100, 10)]);
    expect([held, await counter.topUp(ticket, 50, 5)]).toEqual([10, 50]);
    expect(await counter.topUp(ticket, 50, 41)).toBe(0);
    expect(await counter.topUp(ticket, 50, 5)).toBe(40);
    expect(await counter.topUp(ticket, 50, 1)).toBe(0);
    expect(await usedOf(counter, budgetClaim("wide", 1_000, 0))).toBe(100);
    await counter.settle(ticket, [0, 0]);
    expect(await usedOf(counter, budgetClaim("tight", 100, 0))).toBe(0);
  });

  test("never reserves more than the budget in concurrent reservations and top-ups", async () => {
    const { counter } = await createCounter();
    const tickets = await Promise.all(
      Array.from({ length: 10 }, async () => (await granted(counter, [budgetClaim("b", 100, 4)])).ticket),
    );
    const added = await Promise.all(tickets.flatMap((ticket) => [0, 1, 2].map(() => counter.topUp(ticket, 7, 1))));
    expect(added.reduce((sum, each) => sum + each, 0)).toBe(60);
    expect(await usedOf(counter, budgetClaim("b", 100, 0))).toBe(100);
  });

  test("starts a new period at zero, unaffected by calls of the old one", async () => {
    const { counter } = await createCounter();
    const old = await granted(counter, [budgetClaim("b", 100, 100, 1_000)]);
    expect(await usedOf(counter, budgetClaim("b", 100, 0, 2_000))).toBe(0);
    await granted(counter, [budgetClaim("b", 100, 30, 2_000)]);
    await counter.spend("b", 1_000, costOf(500));
    await counter.settle(old.ticket, [0]);
    expect(await usedOf(counter, budgetClaim("b", 100, 0, 2_000))).toBe(30);
  });

  test("keeps the counts of a period that starts again because the clock was set back", async () => {
    const { counter } = await createCounter();
    await granted(counter, [budgetClaim("b", 100, 100, 1_000)]);
    await granted(counter, [budgetClaim("b", 100, 60, 2_000)]);
    await refused(counter, [budgetClaim("b", 100, 1, 1_000)]);
    await refused(counter, [budgetClaim("b", 100, 41, 2_000)]);
  });

  test("knows later periods without ledger entries, and requires reading the others", async () => {
    const { counter } = await createCounter();
    await counter.beginPeriod("clean", 1_000);
    await counter.setSpending("clean", 1_000, reading(70, { cleanFrom: 2_000 }));
    await counter.spend("clean", 3_000, costOf(5));
    expect(await counter.reserve([budgetClaim("clean", 100, 96, 3_000)])).toMatchObject({ reason: "limit" });
    expect(await counter.reserve([budgetClaim("clean", 100, 95, 3_000)])).toMatchObject({ granted: true });
    expect(await counter.reserve([budgetClaim("clean", 100, 1, 500)])).toMatchObject({ reason: "unknown" });
    await counter.beginPeriod("other", 1_000);
    await counter.setSpending("other", 1_000, reading(70));
    expect(await counter.reserve([budgetClaim("other", 100, 1, 2_000)])).toMatchObject({ reason: "unknown" });
  });
}

function conservationTests(createCounter: CreateCounter): void {
  test("ends a reservation once, and ignores later calls for it", async () => {
    const { counter } = await createCounter();
    const claims = [gaugeClaim("g", 2), budgetClaim("b", 100, 50)];
    const first = await granted(counter, claims);
    await granted(counter, claims);
    await counter.settle(first.ticket, [0, 0]);
    await counter.settle(first.ticket, [0, 0]);
    expect(await Promise.all(claims.map((claim) => usedOf(counter, claim)))).toEqual([1, 50]);
    expect(await counter.topUp(first.ticket, 10, 10)).toBe(0);
    expect(counter.outstanding).toBe(1);
  });

  test("ignores an object that is not a ticket", async () => {
    const { counter } = await createCounter();
    await granted(counter, [gaugeClaim("g", 2)]);
    await counter.settle({}, [0]);
    expect(counter.outstanding).toBe(1);
  });

  test("counts exactly the actual usage after any interleaving of calls, and frees every place", async () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      estimate: fc.integer({ min: 0, max: 40 }),
      actual: fc.integer({ min: 0, max: 60 }),
      ending: fc.integer({ min: 0, max: 1_000 }),
      end: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { counter } = await createCounter();
        const spent = new Map<string, number>();
        const open: { readonly key: string; readonly actual: number; readonly ticket: object }[] = [];
        const endOne = async (at: number): Promise<void> => {
          const [ending] = open.splice(at % Math.max(1, open.length), 1);
          if (ending === undefined) return;
          await counter.spend(ending.key, 0, costOf(ending.actual));
          await counter.settle(ending.ticket, [ending.actual, 0, 0]);
          spent.set(ending.key, (spent.get(ending.key) ?? 0) + ending.actual);
        };
        for (const { key, estimate, actual, ending, end } of steps) {
          const claims = [windowClaim(key, 500, estimate), budgetClaim(key, 500, estimate), gaugeClaim("all", 5)];
          const answer = await reserve(counter, claims);
          if (answer.granted) open.push({ key, actual, ticket: answer.ticket });
          if (end) await endOne(ending);
          expect(counter.outstanding).toBe(open.length);
          expect(await usedOf(counter, gaugeClaim("all", 5))).toBe(open.length);
        }
        while (open.length > 0) await endOne(0);
        for (const key of ["a", "b", "c"]) {
          expect(await usedOf(counter, budgetClaim(key, 500, 0))).toBe(spent.get(key) ?? 0);
          expect(await usedOf(counter, windowClaim(key, 500))).toBe(spent.get(key) ?? 0);
        }
        expect(counter.outstanding).toBe(0);
        expect(await usedOf(counter, gaugeClaim("all", 5))).toBe(0);
      }),
      { numRuns: 100, seed: 3 },
    );
  });
}
