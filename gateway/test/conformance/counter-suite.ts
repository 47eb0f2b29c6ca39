import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Claim, Counter, Refused, Reserved } from "#ports/index.ts";
import { FakeClock } from "../fake-clock.ts";

/** Makes an empty counter whose time is `clock`, or runs beside it. */
export type CounterFactory = (clock: FakeClock) => Counter | Promise<Counter>;

export const windowClaim = (key: string, limit: number, amount = 1): Claim => ({
  kind: "window",
  key,
  limit,
  amount,
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

/** What every implementation of the port `Counter` guarantees. */
export function counterSuite(name: string, create: CounterFactory): void {
  describe(`counter: ${name}`, () => {
    const made = async (): Promise<{ clock: FakeClock; counter: Counter }> => {
      const clock = new FakeClock();
      return { clock, counter: await create(clock) };
    };
    admissionTests(made);
    windowTests(made);
    budgetTests(made);
    conservationTests(made);
  });
}

type Made = () => Promise<{ clock: FakeClock; counter: Counter }>;

async function granted(counter: Counter, claims: readonly Claim[]): Promise<Reserved> {
  const answer = await counter.reserve(claims);
  if (!answer.granted) throw new Error(`claim ${answer.index} was refused at ${answer.state.used}`);
  return answer;
}

async function refused(counter: Counter, claims: readonly Claim[]): Promise<Refused> {
  const answer = await counter.reserve(claims);
  if (answer.granted) throw new Error("the claims were granted");
  return answer;
}

const usedOf = async (counter: Counter, claim: Claim): Promise<number> => (await counter.peek(claim)).used;

function admissionTests(made: Made): void {
  test("with limit N exactly N of many simultaneous claims are granted, for every kind of limit", async () => {
    for (const claim of [windowClaim("k", 7), gaugeClaim("k", 7), budgetClaim("k", 7, 1)]) {
      const { counter } = await made();
      const answers = await Promise.all(Array.from({ length: 40 }, () => counter.reserve([claim])));
      expect(answers.filter((answer) => answer.granted)).toHaveLength(7);
      expect(counter.outstanding).toBe(7);
    }
  });

  test("a refusal names the claim that refused and takes nothing from any", async () => {
    const { counter } = await made();
    const claims = [windowClaim("a", 5), budgetClaim("b", 5, 1), gaugeClaim("c", 1)];
    await granted(counter, claims);
    const answer = await refused(counter, claims);
    expect(answer.index).toBe(2);
    expect(answer.state.used).toBe(1);
    expect(await Promise.all(claims.map((claim) => usedOf(counter, claim)))).toEqual([1, 1, 1]);
  });

  test("two claims on the same counter in one call are counted together", async () => {
    const { counter } = await made();
    expect((await refused(counter, [gaugeClaim("k", 1), gaugeClaim("k", 1)])).index).toBe(1);
    await granted(counter, [gaugeClaim("k", 2), gaugeClaim("k", 2)]);
  });

  test("the same key in another kind is another counter", async () => {
    const { counter } = await made();
    await granted(counter, [windowClaim("k", 1)]);
    await granted(counter, [gaugeClaim("k", 1)]);
    await granted(counter, [budgetClaim("k", 1, 1)]);
  });

  test("a reservation tells how each claim stands after it", async () => {
    const { counter } = await made();
    await granted(counter, [windowClaim("k", 10, 4), gaugeClaim("k", 3)]);
    const { states } = await granted(counter, [windowClaim("k", 10, 4), gaugeClaim("k", 3)]);
    expect(states.map(({ used, limit }) => [used, limit])).toEqual([
      [8, 10],
      [2, 3],
    ]);
    expect(states[1]?.freeInMs).toBe(0);
  });

  test("looking at a claim takes nothing and makes nothing", async () => {
    const { counter } = await made();
    expect(await counter.peek(windowClaim("k", 1))).toEqual({ used: 0, limit: 1, freeInMs: 0 });
    await granted(counter, [windowClaim("k", 1)]);
    expect(await usedOf(counter, windowClaim("k", 1))).toBe(1);
  });

  test("an amount that is not a number is refused instead of unhinging the count", async () => {
    const { counter } = await made();
    await refused(counter, [windowClaim("k", 10, Number.NaN)]);
    await refused(counter, [budgetClaim("k", 10, Number.NaN)]);
    expect(await usedOf(counter, windowClaim("k", 10))).toBe(0);
  });
}

function windowTests(made: Made): void {
  test("no span of 60 s ever holds more than the limit, wherever it begins", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), amount: fc.integer({ min: 1, max: 4 }) }), {
          maxLength: 60,
        }),
        async (steps) => {
          const { clock, counter } = await made();
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

  test("a refused window claim fits exactly when freeInMs is over, and not a second before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 10, maxLength: 10 }),
        fc.integer({ min: 1, max: 10 }),
        async (gapsMs, amount) => {
          const { clock, counter } = await made();
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

  test("setting the wall clock an hour back or forth frees nothing", async () => {
    const { clock, counter } = await made();
    await granted(counter, [windowClaim("k", 1)]);
    clock.jump(3_600_000);
    await refused(counter, [windowClaim("k", 1)]);
    clock.jump(-7_200_000);
    await refused(counter, [windowClaim("k", 1)]);
  });

  test("settling corrects the window in the place of the reservation, and leaves it alone once that is past", async () => {
    const { clock, counter } = await made();
    const early = await granted(counter, [windowClaim("k", 100, 10)]);
    clock.advance(30_000);
    const late = await granted(counter, [windowClaim("k", 100, 10)]);
    await counter.settle(early.ticket, [60]);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(70);
    clock.advance(31_000);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(10);
    clock.advance(61_000);
    await counter.settle(late.ticket, [90]);
    expect(await usedOf(counter, windowClaim("k", 100))).toBe(0);
  });

  test("what happened before the counter existed is counted at its own time", async () => {
    const { clock, counter } = await made();
    clock.advance(5_000);
    counter.seed("k", "window", 3, clock.now() - 50_000, 60_000, 0);
    counter.seed("k", "window", 2, clock.now() - 1_000, 60_000, 0);
    counter.seed("k", "window", 9, clock.now() - 62_000, 60_000, 0);
    expect(await usedOf(counter, windowClaim("k", 10))).toBe(5);
    clock.advance(11_500);
    expect(await usedOf(counter, windowClaim("k", 10))).toBe(2);
  });
}

function budgetTests(made: Made): void {
  test("a budget admits what fits into what remains, and nothing at all once nothing remains", async () => {
    const { counter } = await made();
    await granted(counter, [budgetClaim("b", 100, 60)]);
    await refused(counter, [budgetClaim("b", 100, 41)]);
    await granted(counter, [budgetClaim("b", 100, 40)]);
    await refused(counter, [budgetClaim("b", 100, 0)]);
    await refused(counter, [budgetClaim("none", 0, 0)]);
  });

  test("settling puts the real cost in the place of the estimate, also when it is higher", async () => {
    const { counter } = await made();
    const cheap = await granted(counter, [budgetClaim("b", 100, 60)]);
    await counter.settle(cheap.ticket, [5]);
    const dear = await granted(counter, [budgetClaim("b", 100, 95)]);
    await counter.settle(dear.ticket, [130]);
    expect(await usedOf(counter, budgetClaim("b", 100, 0))).toBe(135);
    await refused(counter, [budgetClaim("b", 100, 0)]);
  });

  test("a new period begins at nothing, and a call of the old one costs it nothing", async () => {
    const { counter } = await made();
    const old = await granted(counter, [budgetClaim("b", 100, 100, 1_000)]);
    expect(await usedOf(counter, budgetClaim("b", 100, 0, 2_000))).toBe(0);
    await granted(counter, [budgetClaim("b", 100, 30, 2_000)]);
    await counter.settle(old.ticket, [500]);
    expect(await usedOf(counter, budgetClaim("b", 100, 0, 2_000))).toBe(30);
  });

  test("a period that is over does not come back when the wall clock is set back", async () => {
    const { counter } = await made();
    await granted(counter, [budgetClaim("b", 100, 100, 2_000)]);
    await refused(counter, [budgetClaim("b", 100, 1, 1_000)]);
  });

  test("spending from before the counter existed is counted in its own period only", async () => {
    const { clock, counter } = await made();
    counter.seed("b", "budget", 70, clock.now(), 0, 2_000);
    counter.seed("b", "budget", 20, clock.now(), 0, 2_000);
    counter.seed("b", "budget", 999, clock.now(), 0, 1_000);
    expect(await usedOf(counter, budgetClaim("b", 100, 0, 2_000))).toBe(90);
    await refused(counter, [budgetClaim("b", 100, 11, 2_000)]);
  });
}

function conservationTests(made: Made): void {
  test("a reservation ends once: what comes after changes nothing", async () => {
    const { counter } = await made();
    const claims = [gaugeClaim("g", 2), budgetClaim("b", 100, 50)];
    const first = await granted(counter, claims);
    await granted(counter, claims);
    await counter.settle(first.ticket, [0, 10]);
    await counter.settle(first.ticket, [0, 0]);
    expect(await Promise.all(claims.map((claim) => usedOf(counter, claim)))).toEqual([1, 60]);
    expect(counter.outstanding).toBe(1);
  });

  test("an object that is not one of its tickets is ignored", async () => {
    const { counter } = await made();
    await granted(counter, [gaugeClaim("g", 2)]);
    await counter.settle({}, [0]);
    expect(counter.outstanding).toBe(1);
  });

  test("after any interleaving of calls the counts are the sums of what was really used, and no place stays taken", async () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      estimate: fc.integer({ min: 0, max: 40 }),
      actual: fc.integer({ min: 0, max: 60 }),
      ending: fc.integer({ min: 0, max: 1_000 }),
      end: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { counter } = await made();
        const spent = new Map<string, number>();
        const open: { readonly key: string; readonly actual: number; readonly ticket: object }[] = [];
        const endOne = async (at: number): Promise<void> => {
          const [ending] = open.splice(at % Math.max(1, open.length), 1);
          if (ending === undefined) return;
          await counter.settle(ending.ticket, [ending.actual, ending.actual, 0]);
          spent.set(ending.key, (spent.get(ending.key) ?? 0) + ending.actual);
        };
        for (const { key, estimate, actual, ending, end } of steps) {
          const claims = [windowClaim(key, 500, estimate), budgetClaim(key, 500, estimate), gaugeClaim("all", 5)];
          const answer = await counter.reserve(claims);
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
