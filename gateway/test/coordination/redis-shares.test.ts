import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { shareLeaseMarginMs } from "#coordination/redis/lease.ts";
import { bounds } from "#core/index.ts";
import type { Claim, Counter, Reserved } from "#ports/index.ts";
import { noRedis } from "../../../test/redis-server.ts";
import { patienceMs, until } from "../../../test/until.ts";
import { asCalls, budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { waitsForServer } from "../conformance/redis-clock.ts";
import { FakeClock } from "../fake-clock.ts";
import { granted, meet, RedisGround } from "./redis-ground.ts";

/** Whatever can be leased is, from the first call on. */
const eager = { callsPerLimitMin: 1, callsMin: 20, tellMsMin: 0 };

describe.skipIf(noRedis !== null)(`leased shares of limits${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let ground: RedisGround;
  beforeEach(async () => {
    ground = await RedisGround.open();
  });
  afterEach(() => ground.close());

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;

  /** A process whose calls are served from shares. Time stands still where a clock is given; waits go by the machine's. */
  const process = async (clock?: FakeClock, answerMs = patienceMs) => {
    const time =
      clock === undefined
        ? {}
        : {
            nowMs: () => clock.monotonic(),
            clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after: waitsForServer },
          };
    return asCalls(await ground.counter({ shares: eager, answerMs, ...time }));
  };

  /** Calls until one is served without a question, so that there is a share. */
  const warm = async (counter: Counter, claims: readonly Claim[], ends = false): Promise<number> => {
    for (let calls = 1; calls <= 50; calls++) {
      const answer = counter.reserve(claims);
      if (!(answer instanceof Promise)) return calls;
      const later = await answer;
      if (!later.granted) throw new Error("refused");
      if (ends) await counter.settle(later.ticket, []);
      await until(() => counter.lastKnownState?.(claims[0] as Claim) !== null);
    }
    throw new Error("nothing was leased");
  };

  const admittedOf = async (counter: Counter, claims: readonly Claim[]): Promise<number> => {
    let admitted = 0;
    while ((await counter.reserve(claims)).granted) admitted++;
    return admitted;
  };

  test("200 callers on three processes get exactly the 1,000 that a limit allows, for every kind of limit, most without a question", async () => {
    const counters = [await process(), await process(), await process()];
    await meet(counters[0] as Counter, "k");
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

  test("what one process was leased and does not use is recalled before another one is refused", async () => {
    const [idle, busy] = [await process(), await process()];
    await meet(idle, "b");
    for (const claim of [windowClaim("w", 100), gaugeClaim("g", 100), budgetClaim("b", 100, 1)]) {
      const calls = await warm(idle, [claim]);
      let admitted = 0;
      while ((await busy.reserve([claim])).granted) admitted++;
      expect(admitted + calls).toBe(100);
    }
  });

  test("a call that is served from a share gets more of a budget that lets calls through while what it has spent is read", async () => {
    const counter = await process();
    await meet(counter, "b");
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
      await meet(counter, "b");
    }
  });

  test("what a share was used for counts from when the call was admitted, not from when it was leased or told", async () => {
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

  test("a dead process's share of places comes back with its lease; of a window it counts as used until a window after that", async () => {
    const clock = new FakeClock();
    const [dead, alive] = [await process(clock), await process(clock)];
    await meet(dead, "b");
    // Money is kept until the dead one's journal is taken over: see redis-money.test.ts.
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

  test("a process that comes back after its lease says what it used: nothing of that is lost, and the rest is free", async () => {
    const clock = new FakeClock();
    const [stopped, other] = [await process(clock), await process(clock)];
    const claim = windowClaim("w", 40);
    const calls = await warm(stopped, [claim], true);
    clock.advance(bounds.redisLeaseMs + 1);
    // How much that is, is a matter of who comes first: it may say what it used by itself.
    const before = await admittedOf(other, [claim]);
    expect(before + calls).toBeLessThanOrEqual(40);
    await usedOf(stopped, claim);
    expect(before + calls + (await admittedOf(other, [claim]))).toBe(40);
  });

  test("while the server is away a process serves what it was leased, until its lease is over by its own clock", async () => {
    const clock = new FakeClock();
    const counter = await process(clock, bounds.redisAnswerMs);
    const claim = windowClaim("w", 100);
    await warm(counter, [claim]);
    ground.server.pause();
    expect(await counter.reserve([claim])).toMatchObject({ granted: true });
    clock.advance(bounds.redisLeaseMs - shareLeaseMarginMs);
    expect(await counter.reserve([claim])).toMatchObject({ granted: false, reason: "unreachable" });
    ground.server.resume();
    await until(() => counter.isUp && counter.unsent === 0);
    await granted(counter, [claim]);
  });

  test("a process that leaves gives back all that it does not use", async () => {
    const leaving = await process();
    const other = await ground.counter({ shares: false });
    await meet(other, "b");
    const claims = [windowClaim("w", 40), gaugeClaim("g", 40), budgetClaim("b", 40, 1)];
    const calls = await warm(leaving, claims);
    await leaving.leave();
    for (const claim of claims) expect(await usedOf(other, claim)).toBe(calls);
  });

  test("an emptied server is told again what runs, and what it was leased of is leased anew", async () => {
    const [one, other] = [await process(), await process()];
    await meet(one, "b");
    const claims = [windowClaim("w", 100), gaugeClaim("g", 100), budgetClaim("b", 100, 1)];
    const calls = await warm(one, claims);
    await ground.type("FLUSHALL");
    await usedOf(one, gaugeClaim("g", 100));
    await until(() => one.isUp && one.unsent === 0);
    await meet(other, "b");
    expect(await admittedOf(other, claims)).toBe(100 - calls);
  });

  test("a smaller limit holds at once, also for what was leased of the larger one", async () => {
    const counter = await process();
    await warm(counter, [windowClaim("w", 100)]);
    await until(() => counter.unsent === 0);
    const used = await usedOf(counter, windowClaim("w", 100));
    let admitted = 0;
    while ((await counter.reserve([windowClaim("w", used + 3)])).granted) admitted++;
    expect(admitted).toBe(3);
  });

  test("few calls lease nothing, and neither do small limits", async () => {
    const counter = asCalls(await ground.counter());
    // Two within a second would be worth a share, if they were seen together.
    for (const [claim, calls] of [[windowClaim("few", 1_000), 1] as const, [gaugeClaim("small", 10), 3] as const]) {
      for (let call = 0; call < calls; call++) expect(counter.reserve([claim])).toBeInstanceOf(Promise);
      await until(() => counter.unsent === 0);
    }
    expect(await ground.type("KEYS", "*:l:*")).toEqual([]);
  });
});
