import { describe, expect, test } from "bun:test";
import type { OpenTries, Tries, TryRule } from "#ports/index.ts";

/** Counters of tries in two processes, or the same counter twice for a single process. */
export interface TriesFixture extends AsyncDisposable {
  readonly open: readonly [OpenTries, OpenTries];
  advance(ms: number): Promise<void>;
}

const minute = 60_000;
const rule: TryRule = { name: "guess", max: 10, windowMs: 15 * minute, windowMsMax: 24 * 60 * minute };

/** Makes up to `count` tries. Returns how many were counted, and the wait of the first one that was not. */
async function use(tries: Tries, key: string, count: number): Promise<{ counted: number; waitMs: number }> {
  for (let counted = 0; counted < count; counted++) {
    const { waitMs } = await tries.take([key]);
    if (waitMs > 0) return { counted, waitMs };
  }
  return { counted: count, waitMs: 0 };
}

/** The whole minutes of a wait that has already lasted a moment. */
const minutes = (ms: number): number => Math.ceil(ms / minute);

/** Guarantees of every implementation of the port `Tries`. */
export function triesSuite(name: string, make: () => Promise<TriesFixture>): void {
  describe(`tries: ${name}`, () => {
    test("counts N tries over all processes, also concurrent ones, and marks the last one", async () => {
      await using fixture = await make();
      const [one, two] = fixture.open.map((open) => open(rule));
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : two)?.take(["account", `address-${n % 8}`])),
      );
      const counted = all.filter((attempt) => attempt?.waitMs === 0);
      expect(counted).toHaveLength(10);
      expect(counted.filter((attempt) => attempt?.isLast)).toHaveLength(1);
      for (const attempt of all) if (attempt?.waitMs !== 0) expect(minutes(attempt?.waitMs ?? 0)).toBe(15);
      // Refused tries were not counted for their addresses.
      const remaining = await Promise.all(Array.from({ length: 8 }, (_, n) => use(one as Tries, `address-${n}`, 11)));
      expect(remaining.reduce((sum, { counted: each }) => sum + each, 0)).toBe(8 * 10 - 10);
    });

    test("doubles the window after each one that is used up, up to a day", async () => {
      await using fixture = await make();
      const [one, two] = fixture.open.map((open) => open(rule)) as [Tries, Tries];
      const waits: number[] = [];
      for (let round = 0; round < 9; round++) {
        const first = await use(one, "a", 6);
        const { counted, waitMs } = await use(two, "a", 5);
        expect(first.counted + counted).toBe(10);
        waits.push(minutes(waitMs));
        await fixture.advance(waitMs);
      }
      expect(waits).toEqual([15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]);
    });

    test("starts with a short window again after an unused window, or after the same time without tries", async () => {
      await using fixture = await make();
      const tries = fixture.open[0](rule);
      await use(tries, "a", 10);
      await fixture.advance(15 * minute);
      expect((await use(tries, "a", 3)).counted).toBe(3);
      await fixture.advance(30 * minute);
      const again = await use(tries, "a", 11);
      expect([again.counted, minutes(again.waitMs)]).toEqual([10, 15]);
      await fixture.advance(30 * minute);
      const later = await use(tries, "a", 11);
      expect([later.counted, minutes(later.waitMs)]).toEqual([10, 15]);
    });

    test("gives back successful tries and forgets a key, in every process", async () => {
      await using fixture = await make();
      const small = { ...rule, max: 2 };
      const [one, two] = fixture.open.map((open) => open(small)) as [Tries, Tries];
      await one.take(["account", "address"]);
      expect(await one.take(["account", "address"])).toEqual({ waitMs: 0, isLast: true });
      await one.giveBack(["address"]);
      await one.forget("account");
      expect((await use(two, "address", 3)).counted).toBe(1);
      expect((await use(two, "account", 3)).counted).toBe(2);
    });

    test("admits a try after another one was given back, also after a refusal", async () => {
      await using fixture = await make();
      const [one, two] = fixture.open.map((open) => open({ ...rule, max: 1 })) as [Tries, Tries];
      await one.take(["a"]);
      expect((await two.take(["a"])).waitMs).toBeGreaterThan(0);
      await one.giveBack(["a"]);
      // Every process knows at most a second later.
      await fixture.advance(1_000);
      expect((await two.take(["a"])).waitMs).toBe(0);
    });

    test("counts other rules separately, and keeps the window of a rule without growth", async () => {
      await using fixture = await make();
      const flat = { ...rule, name: "link", windowMsMax: rule.windowMs };
      await use(fixture.open[0](rule), "a", 10);
      const links = fixture.open[1](flat);
      for (let round = 0; round < 3; round++) {
        const { counted, waitMs } = await use(links, "a", 11);
        expect([counted, minutes(waitMs)]).toEqual([10, 15]);
        await fixture.advance(waitMs);
      }
    });
  });
}
