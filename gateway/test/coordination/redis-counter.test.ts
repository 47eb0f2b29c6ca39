import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMemoryCounter } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { Claim, Counter } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { FakeClock } from "../fake-clock.ts";
import { governedPrincipal } from "../simulation/governed-principal.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

describe.skipIf(noRedis !== null)(`Redis counter${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  beforeEach(async () => {
    fixture = await RedisFixture.open();
  });
  afterEach(() => fixture.close());

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;

  test("admits exactly the 1,000 that a limit of any kind allows, for 200 callers on three processes", async () => {
    const counters = await Promise.all([0, 1, 2].map(() => fixture.counter()));
    await setSpent(counters[0] as Counter, "k");
    for (const claim of [windowClaim("k", 1_000), gaugeClaim("k", 1_000), budgetClaim("k", 1_000, 1)]) {
      const caller = async (index: number) => {
        let admitted = 0;
        for (let call = 0; call < 8; call++) {
          if ((await counters[index % 3]?.reserve([claim]))?.granted === true) admitted++;
        }
        return admitted;
      };
      const admitted = await Promise.all(Array.from({ length: 200 }, (_, index) => caller(index)));
      expect(admitted.reduce((sum, each) => sum + each, 0)).toBe(1_000);
      expect(await usedOf(counters[1] as Counter, claim)).toBe(1_000);
    }
  });

  test("batches the operations of one turn of the event loop into a few messages, and answers each call separately", async () => {
    const counter = await fixture.counter({ shares: false });
    await setSpent(counter, "k");
    const messages = async (): Promise<number> => {
      const calls = /cmdstat_evalsha:calls=(\d+)/.exec(String(await fixture.type("INFO", "commandstats")))?.[1];
      return Number(calls ?? 0);
    };
    const claims = [windowClaim("k", 60, 1), gaugeClaim("k", 1_000), budgetClaim("k", 1_000, 1)];
    const before = await messages();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, call) => counter.reserve(claims, `req_${call}`)));
    const reserved = answers.filter((answer) => answer.granted);
    expect(answers.map(({ granted: is }) => is)).toEqual(answers.map((_, call) => call < 60));
    expect(reserved.map(({ states }) => states[0]?.used)).toEqual(reserved.map((_, call) => call + 1));
    await Promise.all(
      reserved.flatMap(({ ticket }, call) => [
        counter.spend("k", 0, { attemptId: `att_${call}`, amount: 3 }),
        counter.settle(ticket, [1]),
      ]),
    );
    expect(await usedOf(counter, gaugeClaim("k", 1_000))).toBe(0);
    expect(await usedOf(counter, budgetClaim("k", 1_000, 0))).toBe(180);
    // 220 operations in batches of at most 32, plus two peeks and an occasional lease renewal.
    expect((await messages()) - before).toBeLessThan(20);
  });

  test("gives the same answers as the in-memory counter", async () => {
    const claim = fc.oneof(
      fc
        .record({ key: fc.constantFrom("a", "b"), amount: fc.integer({ min: 0, max: 30 }) })
        .map(({ key, amount }) => windowClaim(key, 50, amount)),
      fc.constantFrom("a", "b").map((key) => gaugeClaim(key, 3)),
      fc
        .record({ amount: fc.integer({ min: 0, max: 60 }), least: fc.integer({ min: 0, max: 60 }) })
        .map(({ amount, least }) => ({ ...budgetClaim("a", 200, amount), least: Math.min(least, amount) })),
    );
    const step = fc.record({
      claims: fc.array(claim, { minLength: 1, maxLength: 4 }),
      afterMs: fc.integer({ min: 0, max: 9_000 }),
      ends: fc.option(fc.record({ which: fc.nat(20), actual: fc.integer({ min: 0, max: 40 }) })),
      more: fc.option(fc.integer({ min: 1, max: 50 })),
    });
    let run = 0;
    const clock = new FakeClock();
    const shared = await fixture.counter({ nowMs: () => clock.monotonic() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        // Separate keys for each run, and a clock that advances like a server's.
        const name = ++run;
        const own = (claims: readonly Claim[]) => claims.map((each) => ({ ...each, key: `${name}:${each.key}` }));
        clock.advance(200_000);
        const memory = createMemoryCounter({ clock });
        for (const counter of [memory, shared]) await setSpent(counter, `${name}:a`);
        const open: (readonly [object, object])[] = [];
        for (const { claims, afterMs, ends, more } of steps) {
          clock.advance(afterMs);
          const a = memory.reserve(own(claims));
          const b = await shared.reserve(own(claims));
          const shown = (answer: typeof b) =>
            answer.granted
              ? [answer.held, answer.states.map(({ used, freeInMs, limit }) => [used, freeInMs, limit])]
              : [answer.index, answer.reason, answer.state];
          expect(shown(b)).toEqual(shown(a));
          if (a.granted && b.granted) open.push([a.ticket, b.ticket]);
          const last = open.at(-1);
          if (more !== null && last !== undefined) {
            expect(await shared.topUp(last[1], more, 5)).toBe(await memory.topUp(last[0], more, 5));
          }
          const [ended] = ends === null ? [] : open.splice(ends.which % Math.max(1, open.length), 1);
          if (ended === undefined || ends === null) continue;
          const actual = claims.map(() => ends.actual);
          memory.settle(ended[0], actual);
          await shared.settle(ended[1], actual);
          for (const each of own(claims)) expect(await shared.peek(each)).toEqual(memory.peek(each));
        }
        for (const [a, b] of open) {
          memory.settle(a, []);
          await shared.settle(b, []);
        }
      }),
      { numRuns: 60, seed: 5 },
    );
    expect(shared.outstanding).toBe(0);
  });

  test("treats a repeated id as the same reservation on any process, and ends it once for all", async () => {
    const [one, other] = [await fixture.counter(), await fixture.counter()];
    await setSpent(one, "b");
    const claims = [gaugeClaim("g", 5), windowClaim("w", 10, 4), budgetClaim("b", 100, 60)];
    const first = await granted(one, claims, "vt_1");
    const again = await granted(other, claims, "vt_1");
    expect(again.held).toBe(60);
    expect(await Promise.all(claims.map((claim) => usedOf(one, claim)))).toEqual([1, 4, 60]);
    await one.settle(first.ticket, [0, 9, 0]);
    await other.settle(again.ticket, [0, 9, 0]);
    await one.settle(first.ticket, [0, 9, 0]);
    expect(await Promise.all(claims.map((claim) => usedOf(one, claim)))).toEqual([0, 9, 0]);
  });

  test("frees the places of a dead process after its lease, and keeps the places of a live one", async () => {
    const clock = new FakeClock();
    const nowMs = () => clock.now();
    const [dead, alive] = [await fixture.counter({ nowMs }), await fixture.counter({ nowMs })];
    await setSpent(alive, "b");
    const claims = [gaugeClaim("g", 2), budgetClaim("b", 1_000, 50)];
    await granted(dead, claims);
    await granted(alive, claims);
    dead.close();
    clock.advance(bounds.redisLeaseMs - 1);
    expect(await alive.reserve(claims)).toMatchObject({ granted: false });
    clock.advance(2);
    // The live process's lease expires too, because it has not renewed it by this clock. It reports its places when it
    // reconnects.
    await granted(alive, claims);
    expect(await alive.reserve(claims)).toMatchObject({ granted: false });
    expect(await Promise.all(claims.map((claim) => usedOf(alive, claim)))).toEqual([2, 150]);
  });

  test("grants nothing extra to a caller with a wrong clock", async () => {
    const off = (ms: number) => ({
      ...systemClock,
      now: () => Date.now() + ms,
      monotonic: () => systemClock.monotonic() + ms,
    });
    const counters = [
      await fixture.counter(),
      await fixture.counter({ clock: off(7_200_000) }),
      await fixture.counter({ clock: off(-7_200_000) }),
    ];
    const answers = await Promise.all(
      counters.flatMap((counter) => [0, 1, 2].map(() => counter.reserve([windowClaim("w", 4)]))),
    );
    expect(answers.filter((answer) => answer.granted)).toHaveLength(4);
    const [early] = await Promise.all(counters.map((counter) => counter.peek(windowClaim("w", 4))));
    expect(early?.freeInMs).toBeGreaterThan(0);
  });

  test("frees nothing early and blocks nobody for longer than a window when the server's clock is set back", async () => {
    const clock = new FakeClock();
    const counter = await fixture.counter({ nowMs: () => clock.now() });
    await granted(counter, [windowClaim("w", 3, 3)]);
    clock.jump(-3_600_000);
    expect(await counter.reserve([windowClaim("w", 3)])).toMatchObject({ granted: false });
    const { freeInMs } = await counter.peek(windowClaim("w", 3));
    expect(freeInMs).toBeLessThanOrEqual(61_000);
    clock.advance(freeInMs);
    await granted(counter, [windowClaim("w", 3, 3)]);
  });

  test("counts every cost once when two processes read the same budget at the same time", async () => {
    const [one, other] = [await fixture.counter(), await fixture.counter()];
    const spend = (counter: Counter, attemptId: string, amount: number) => counter.spend("b", 0, { attemptId, amount });
    const reading = (amount: number, ...recent: (readonly [string, number])[]) => ({
      amount,
      recent: recent.map(([attemptId, cost]) => ({ attemptId, amount: cost })),
      cleanFrom: Number.POSITIVE_INFINITY,
      again: true,
    });
    await one.beginPeriod("b", 0);
    await spend(other, "att_0", 1);
    await one.beginPeriod("b", 0, true);
    await spend(other, "att_1", 10);
    await other.beginPeriod("b", 0);
    await other.beginPeriod("b", 0, true);
    await spend(one, "att_2", 100);
    await spend(one, "att_2", 100);
    // The first reading was made before att_2 was stored. It holds att_0, att_1 and att_3, which no process has
    // reported yet. Both readings name their latest entries from before the processes began.
    await one.setSpending("b", 0, reading(1_011, ["att_0", 1], ["att_1", 10], ["att_3", 1_000]));
    await other.setSpending("b", 0, reading(1_111, ["att_1", 10], ["att_2", 100], ["att_3", 1_000]));
    await spend(one, "att_3", 1_000);
    expect(await usedOf(other, budgetClaim("b", 1, 0))).toBe(1_111);
  });

  test("adds costs of calls that another process admitted to a budget that this process has read", async () => {
    const clock = systemClock;
    const counters = [await fixture.counter(), await fixture.counter()] as const;
    const [one, other] = counters.map((counter) => new Admission({ counter, clock }));
    if (one === undefined || other === undefined) throw new Error("not made");
    const principal = governedPrincipal({ key: { budget: { nanoUsd: 100, period: "total" } } });
    const money = (nanoUsd: number) => ({ tokens: 0, money: () => ({ most: nanoUsd, least: nanoUsd }) });
    (await one.admit(principal, money(10), "req_1")).release();
    const permit = await other.admit(principal, money(60), "req_2");
    const cost = { attemptId: "att_2", at: clock.now(), workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
    other.settled({ ...cost, costNanoUsd: 55 });
    permit.settle(0);
    await until(() => counters.every(({ unsent }) => unsent === 0));
    const [used] = await one.limitUsages(principal.scopes);
    expect(Math.round((used?.used ?? 0) * 1e9)).toBe(55);
    await expect((async () => one.admit(principal, money(46), "req_3"))()).rejects.toThrow("budget");
    await one.admit(principal, money(45), "req_4");
  });

  test("keeps all keys of a script in one slot, so that a cluster accepts every operation", async () => {
    const cluster = await RedisFixture.open("--cluster-enabled", "yes");
    try {
      await cluster.type("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      await cluster.ready();
      const counter = await cluster.counter(
        { seed: async (seeded) => seeded.seed("w", 2, systemClock.now(), 60_000) },
        `${cluster.server.url}?cluster=true`,
      );
      await setSpent(counter, "b", 5);
      const claims = [windowClaim("w", 10, 3), gaugeClaim("g", 2), budgetClaim("b", 100, 20)];
      const { ticket } = await granted(counter, claims);
      expect(await counter.topUp(ticket, 10, 1)).toBe(10);
      await counter.spend("b", 0, { attemptId: "att_1", amount: 7 });
      expect(await Promise.all(claims.map((claim) => usedOf(counter, claim)))).toEqual([5, 1, 42]);
      await counter.settle(ticket, [4, 0, 0]);
      expect(await Promise.all(claims.map((claim) => usedOf(counter, claim)))).toEqual([6, 0, 12]);
      await cluster.type("FLUSHALL");
      // The seeded amount, plus a call that ended since.
      expect(await usedOf(counter, windowClaim("w", 10))).toBe(2 + 4);
    } finally {
      await cluster.close();
    }
  });
});
