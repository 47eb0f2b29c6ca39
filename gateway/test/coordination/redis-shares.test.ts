import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { shareLeaseMarginMs } from "#coordination/redis/lease.ts";
import { bounds } from "#core/index.ts";
import type { Claim, Counter, Reserved } from "#ports/index.ts";
import { noRedis } from "../../../test/redis-server.ts";
import { patienceMs, until } from "../../../test/until.ts";
import { asCalls, budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { waitsForServer } from "../conformance/redis-clock.ts";
import { FakeClock } from "../fake-clock.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

/** Leases everything that can be leased, from the first call on. */
const eager = { callsPerLimitMin: 1, callsMin: 20, syncMsMin: 0 };

describe.skipIf(noRedis !== null)(`leased shares${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  beforeEach(async () => {
    fixture = await RedisFixture.open();
  });
  afterEach(() => fixture.close());

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;

  /**
   * A process that serves calls from shares. With `clock`, time moves only when the test advances it; waits use the
   * machine's clock.
   */
  const process = async (clock?: FakeClock, answerMs = patienceMs) => {
    const time =
      clock === undefined
        ? {}
        : {
            nowMs: () => clock.monotonic(),
            clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after: waitsForServer },
          };
    return asCalls(await fixture.counter({ shares: eager, answerMs, ...time }));
  };

  /** Calls until one is served locally, so that a share exists. */
  const warm = async (counter: Counter, claims: readonly Claim[], ends = false): Promise<number> => {
    for (let calls = 1; calls <= 50; calls++) {
      const answer = counter.reserve(claims);
      if (!(answer instanceof Promise)) return calls;
      const later = await answer;
      if (!later.granted) throw new Error("refused");
      if (ends) await counter.settle(later.ticket, []);
      await until(() => counter.recentState?.(claims[0] as Claim) !== null);
    }
    throw new Error("nothing was leased");
  };

  const admittedOf = async (counter: Counter, claims: readonly Claim[]): Promise<number> => {
    let admitted = 0;
    while ((await counter.reserve(claims)).granted) admitted++;
    return admitted;
  };

  test("admits exactly the 1,000 that a limit of any kind allows, most of them locally, for 200 callers on three processes", async () => {
    const counters = [await process(), await process(), await process()];
    await setSpent(counters[0] as Counter, "k");
    for (const claim of [windowClaim("k", 1_000), gaugeClaim("k", 1_000), budgetClaim("k", 1_000, 1)]) {
      let unasked = 0;
      const caller = async (index: number) => {
        let admitted = 0;
        for (let call = 0; call < 8; call++) {
          const answer = counters[index % 3]?.reserve([claim]);
          if (answer !== undefined && !(answer instanceof Promise)) unasked++;
          if ((await answer)?.granted === true) admitted++;
        }
        return admitted;
      };
      const admitted = await Promise.all(Array.from({ length: 200 }, (_, index) => caller(index)));
      expect(admitted.reduce((sum, each) => sum + each, 0)).toBe(1_000);
      expect(unasked).toBeGreaterThan(0);
      expect(await usedOf(counters[1] as Counter, claim)).toBe(1_000);
    }
  });

  test("recalls an unused share before another process is refused", async () => {
    const [idle, busy] = [await process(), await process()];
    await setSpent(idle, "b");
    for (const claim of [windowClaim("w", 100), gaugeClaim("g", 100), budgetClaim("b", 100, 1)]) {
      const calls = await warm(idle, [claim]);
      let admitted = 0;
      while ((await busy.reserve([claim])).granted) admitted++;
      expect(admitted + calls).toBe(100);
    }
  });

  test("tops up a fail-open budget for a call served from a share while spending is being read", async () => {
    const counter = await process();
    await setSpent(counter, "b");
    const claim = budgetClaim("b", 1_000, 10);
    for (const [fail, more] of [
      ["closed", 0],
      ["open", 900],
    ] as const) {
      const { ticket } = await until(async () => {
        const answer = counter.reserve([{ ...claim, fail }]);
        if (!(answer instanceof Promise)) return answer as Reserved;
        const later = await answer;
        if (later.granted) await counter.settle(later.ticket, []);
        return null;
      });
      await counter.invalidateSpending([{ key: "b", periodStart: 0 }]);
      expect(await counter.topUp(ticket, 900, 900)).toBe(more);
      await counter.settle(ticket, []);
      await setSpent(counter, "b");
    }
  });

  test("counts a share's uses from when the calls were admitted, not from when they were leased or reported", async () => {
    const clock = new FakeClock();
    const [one, other] = [await process(clock), await process(clock)];
    const claim = windowClaim("w", 30);
    const early = await warm(one, [claim]);
    for (let step = 0; step < 10; step++) {
      clock.advance(5_000);
      await usedOf(one, claim);
    }
    const late = await warm(one, [claim]);
    expect(early + late).toBeLessThan(30);
    clock.advance(11_000);
    expect(await admittedOf(other, [claim])).toBe(30 - late);
    clock.advance(50_000);
    expect(await admittedOf(other, [claim])).toBe(late);
  });

  test("frees a dead process's share of places with its lease, and its share of a window one window later", async () => {
    const clock = new FakeClock();
    const [dead, alive] = [await process(clock), await process(clock)];
    await setSpent(dead, "b");
    // Money stays held until the journal is adopted: see redis-money.test.ts.
    const claims = [windowClaim("w", 400), gaugeClaim("g", 40), budgetClaim("b", 4_000, 1)];
    const calls = await warm(dead, claims);
    dead.close();
    const admitted = await admittedOf(alive, claims);
    expect(admitted + calls).toBeLessThan(40);
    clock.advance(bounds.redisLeaseMs + 1);
    expect(admitted + (await admittedOf(alive, claims))).toBe(40);
    const left = await admittedOf(alive, [claims[0] as Claim]);
    expect(40 + left + calls).toBeLessThan(400);
    clock.advance(61_000);
    expect(await admittedOf(alive, [claims[0] as Claim])).toBe(400);
  });

  test("counts what a process used when it reconnects after its lease, and frees the rest", async () => {
    const clock = new FakeClock();
    const [stopped, other] = [await process(clock), await process(clock)];
    const claim = windowClaim("w", 40);
    const calls = await warm(stopped, [claim], true);
    clock.advance(bounds.redisLeaseMs + 1);
    // The amount depends on timing: the process may report its uses first.
    const before = await admittedOf(other, [claim]);
    expect(before + calls).toBeLessThanOrEqual(40);
    await usedOf(stopped, claim);
    expect(before + calls + (await admittedOf(other, [claim]))).toBe(40);
  });

  test("serves from shares while Redis is down, until the lease ends by the process's own clock", async () => {
    const clock = new FakeClock();
    const counter = await process(clock, bounds.redisAnswerMs);
    const claim = windowClaim("w", 100);
    await warm(counter, [claim]);
    fixture.server.pause();
    expect(await counter.reserve([claim])).toMatchObject({ granted: true });
    clock.advance(bounds.redisLeaseMs - shareLeaseMarginMs);
    expect(await counter.reserve([claim])).toMatchObject({ granted: false, reason: "unreachable" });
    fixture.server.resume();
    await until(() => counter.isUp && counter.unsent === 0);
    await granted(counter, [claim]);
  });

  test("returns everything unused when a process leaves", async () => {
    const leaving = await process();
    const other = await fixture.counter({ shares: false });
    await setSpent(other, "b");
    const claims = [windowClaim("w", 40), gaugeClaim("g", 40), budgetClaim("b", 40, 1)];
    const calls = await warm(leaving, claims);
    await leaving.leave();
    for (const claim of claims) expect(await usedOf(other, claim)).toBe(calls);
  });

  test("restores running calls after Redis is emptied, and leases shares again", async () => {
    const [one, other] = [await process(), await process()];
    await setSpent(one, "b");
    const claims = [windowClaim("w", 100), gaugeClaim("g", 100), budgetClaim("b", 100, 1)];
    const calls = await warm(one, claims);
    await fixture.type("FLUSHALL");
    await usedOf(one, gaugeClaim("g", 100));
    await until(() => one.isUp && one.unsent === 0);
    await setSpent(other, "b");
    expect(await admittedOf(other, claims)).toBe(100 - calls);
  });

  test("applies a lowered limit at once, also to shares leased under the higher one", async () => {
    const counter = await process();
    await warm(counter, [windowClaim("w", 100)]);
    await until(() => counter.unsent === 0);
    const used = await usedOf(counter, windowClaim("w", 100));
    let admitted = 0;
    while ((await counter.reserve([windowClaim("w", used + 3)])).granted) admitted++;
    expect(admitted).toBe(3);
  });

  test("leases nothing for few calls or small limits", async () => {
    const counter = asCalls(await fixture.counter());
    // Two calls within a second would earn a share if they were counted together.
    for (const [claim, calls] of [[windowClaim("few", 1_000), 1] as const, [gaugeClaim("small", 10), 3] as const]) {
      for (let call = 0; call < calls; call++) expect(counter.reserve([claim])).toBeInstanceOf(Promise);
      await until(() => counter.unsent === 0);
    }
    expect(await fixture.type("KEYS", "*:l:*")).toEqual([]);
  });
});
