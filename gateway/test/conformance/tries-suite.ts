import { describe, expect, test } from "bun:test";
import type { OpenTries, Tries, TryRule } from "#ports/index.ts";

/** What counts tries in each of two processes; the same twice where there is one. */
export interface TriesGround extends AsyncDisposable {
  readonly open: readonly [OpenTries, OpenTries];
  pass(ms: number): Promise<void>;
}

const minute = 60_000;
const rule: TryRule = { name: "guess", max: 10, windowMs: 15 * minute, windowMsMax: 24 * 60 * minute };

/** How many of `count` tries are counted, and how long the first one that is not has to wait. */
async function use(tries: Tries, key: string, count: number): Promise<{ taken: number; waitMs: number }> {
  for (let taken = 0; taken < count; taken++) {
    const { waitMs } = await tries.take([key]);
    if (waitMs > 0) return { taken, waitMs };
  }
  return { taken: count, waitMs: 0 };
}

/** Whole minutes, as a wait of which moments have passed. */
const minutes = (ms: number): number => Math.ceil(ms / minute);

/** What every implementation of the port `Tries` guarantees. */
export function triesSuite(name: string, make: () => Promise<TriesGround>): void {
  describe(`tries: ${name}`, () => {
    test("N tries are N over all processes, also when they come together, and each says who was the last", async () => {
      await using ground = await make();
      const [one, two] = ground.open.map((open) => open(rule));
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : two)?.take(["account", `address-${n % 8}`])),
      );
      const counted = all.filter((taken) => taken?.waitMs === 0);
      expect(counted).toHaveLength(10);
      expect(counted.filter((taken) => taken?.isLast)).toHaveLength(1);
      for (const taken of all) if (taken?.waitMs !== 0) expect(minutes(taken?.waitMs ?? 0)).toBe(15);
      // What was refused counted against no address.
      const left = await Promise.all(Array.from({ length: 8 }, (_, n) => use(one as Tries, `address-${n}`, 11)));
      expect(left.reduce((sum, { taken }) => sum + taken, 0)).toBe(8 * 10 - 10);
    });

    test("a window that is used up is followed by one twice as long, up to a day", async () => {
      await using ground = await make();
      const [one, two] = ground.open.map((open) => open(rule)) as [Tries, Tries];
      const waits: number[] = [];
      for (let round = 0; round < 9; round++) {
        const first = await use(one, "a", 6);
        const { taken, waitMs } = await use(two, "a", 5);
        expect(first.taken + taken).toBe(10);
        waits.push(minutes(waitMs));
        await ground.pass(waitMs);
      }
      expect(waits).toEqual([15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]);
    });

    test("after a window that was not used up, or as much quiet again, the next is a short one", async () => {
      await using ground = await make();
      const tries = ground.open[0](rule);
      await use(tries, "a", 10);
      await ground.pass(15 * minute);
      expect((await use(tries, "a", 3)).taken).toBe(3);
      await ground.pass(30 * minute);
      const again = await use(tries, "a", 11);
      expect([again.taken, minutes(again.waitMs)]).toEqual([10, 15]);
      await ground.pass(30 * minute);
      const later = await use(tries, "a", 11);
      expect([later.taken, minutes(later.waitMs)]).toEqual([10, 15]);
    });

    test("what turned out well is given back, and what was right is forgotten, in every process", async () => {
      await using ground = await make();
      const small = { ...rule, max: 2 };
      const [one, two] = ground.open.map((open) => open(small)) as [Tries, Tries];
      await one.take(["account", "address"]);
      expect(await one.take(["account", "address"])).toEqual({ waitMs: 0, isLast: true });
      await one.giveBack(["address"]);
      await one.forget("account");
      expect((await use(two, "address", 3)).taken).toBe(1);
      expect((await use(two, "account", 3)).taken).toBe(2);
    });

    test("a try that is given back makes room, also where somebody was just refused", async () => {
      await using ground = await make();
      const [one, two] = ground.open.map((open) => open({ ...rule, max: 1 })) as [Tries, Tries];
      await one.take(["a"]);
      expect((await two.take(["a"])).waitMs).toBeGreaterThan(0);
      await one.giveBack(["a"]);
      // At most a second later every process knows.
      await ground.pass(1_000);
      expect((await two.take(["a"])).waitMs).toBe(0);
    });

    test("rules of other names, and windows that never grow, count for themselves", async () => {
      await using ground = await make();
      const flat = { ...rule, name: "link", windowMsMax: rule.windowMs };
      await use(ground.open[0](rule), "a", 10);
      const links = ground.open[1](flat);
      for (let round = 0; round < 3; round++) {
        const { taken, waitMs } = await use(links, "a", 11);
        expect([taken, minutes(waitMs)]).toEqual([10, 15]);
        await ground.pass(waitMs);
      }
    });
  });
}
