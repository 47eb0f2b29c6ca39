import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RedisCounter, RedisCounterOptions } from "#coordination/index.ts";
import { shareLeaseMarginMs } from "#coordination/redis/lease.ts";
import { redisRenewMs } from "#coordination/redis/membership.ts";
import { bounds } from "#core/index.ts";
import type { Claim, Counter } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis } from "../../../test/redis-server.ts";
import { patienceMs, until } from "../../../test/until.ts";
import { asCalls, budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { FakeClock } from "../fake-clock.ts";
import { HandLink, tellsShares } from "./hand-network.ts";
import { granted, meet, RedisGround } from "./redis-ground.ts";

/** Whatever can be leased is, from the first call on. */
const eager = { callsPerLimitMin: 1, callsMin: 20, tellMsMin: 0 };

/** What befalls messages of shares, and those who should have sent them; the simulation finds what befalls by chance. */
describe.skipIf(noRedis !== null)(`messages of shares${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let ground: RedisGround;
  let worlds = 0;
  beforeAll(async () => {
    ground = await RedisGround.open();
  });
  afterAll(() => ground.close());

  /** Processes on a counter of their own. What they count goes by the clock, and their waits by the machine's. */
  const world = () => {
    const clock = new FakeClock();
    const renewals: (() => void)[] = [];
    /** Of one process: its lease is renewed when a test says so, and it never looks by itself whether the data are lost. */
    const timers = () => {
      let isWatching = false;
      return (ms: number, act: () => void) => {
        // Only the first: a retry may wait as long as the watch does.
        if (ms === bounds.redisWatchMs && !isWatching) {
          isWatching = true;
          return () => undefined;
        }
        if (ms !== redisRenewMs) return systemClock.after(ms, act);
        renewals.push(act);
        return () => undefined;
      };
    };
    const namespace = `messages-${++worlds}`;
    return {
      clock,
      renew: () => {
        for (const act of renewals.splice(0)) act();
      },
      /** `own`: its own clock, where that is another than the server's. */
      process: async (shares: RedisCounterOptions["shares"] = eager, own = clock) => {
        const link = new HandLink((...words) => ground.type(...words));
        const counter = await ground.counter({
          namespace,
          shares,
          answerMs: patienceMs,
          nowMs: () => clock.monotonic(),
          clock: { now: () => own.now(), monotonic: () => own.monotonic(), after: timers() },
          openLink: link.open,
        });
        return { link, plain: counter, counter: asCalls(counter) };
      },
      /** The server loses the data of this world. */
      empty: () => ground.type("DEL", `{${namespace}}:epoch`),
      /** What nobody leases anything of. */
      teller: () => ground.counter({ namespace, shares: false, nowMs: () => clock.monotonic() }),
    };
  };

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;
  const atRest = (counter: RedisCounter) => until(() => counter.isUp && counter.unsent === 0);

  /** Calls until so many were served without a question. Resolves to the tickets of all. */
  const serve = async (counter: Counter, claims: readonly Claim[], unasked: number): Promise<readonly object[]> => {
    const tickets: object[] = [];
    for (let served = 0; served < unasked; ) {
      const answer = counter.reserve(claims);
      if (!(answer instanceof Promise)) served++;
      const reserved = await answer;
      if (!reserved.granted) throw new Error(`refused after ${tickets.length} calls`);
      tickets.push(reserved.ticket);
      if (tickets.length > 200) throw new Error("nothing was leased");
      if (answer instanceof Promise) await until(() => (counter as RedisCounter).unsent === 0);
    }
    return tickets;
  };

  const admittedOf = async (counter: Counter, claims: readonly Claim[]): Promise<number> => {
    let admitted = 0;
    while ((await counter.reserve(claims)).granted) admitted++;
    return admitted;
  };

  test("a message whose answer was lost is sent again, and done once: uses, what is put right of them, and costs", async () => {
    const { process, teller } = world();
    const { link, counter } = await process();
    const other = await teller();
    await meet(other, "b");
    const claims = [windowClaim("w", 1_000, 4), gaugeClaim("g", 1_000), budgetClaim("b", 4_000, 4)];
    const lost = async (act: () => unknown): Promise<void> => {
      let count = 0;
      link.loses = (words) => tellsShares(words) && ++count === 1;
      await act();
      // Whoever looks has all told first.
      await usedOf(counter, claims[0] as Claim);
      await atRest(counter);
      expect(count).toBeGreaterThan(1);
      link.loses = () => false;
    };
    let tickets: readonly object[] = [];
    await lost(async () => (tickets = await serve(counter, claims, 5)));
    const ended = tickets.slice(0, 4);
    await lost(async () => {
      for (const [index, ticket] of ended.entries()) {
        await counter.spend("b", 0, { attemptId: `att_${index}`, amount: 3 });
        await counter.settle(ticket, [1, 0, 0]);
      }
    });
    await counter.leave();
    const live = tickets.length - ended.length;
    expect(await usedOf(other, claims[0] as Claim)).toBe(4 * live + ended.length);
    expect(await usedOf(other, claims[1] as Claim)).toBe(live);
    expect(await usedOf(other, claims[2] as Claim)).toBe(4 * live + 3 * ended.length);
  });

  test("a call that ends while its process tells an emptied counter what it holds counts there", async () => {
    const { process, renew, empty } = world();
    const { link, counter } = await process();
    const claim = windowClaim("w", 1_000);
    const tickets = await serve(counter, [claim], 30);
    await atRest(counter);
    const left = [...tickets];
    // One ends before each answer.
    link.holds = () => {
      const ticket = left.pop();
      if (ticket !== undefined) void counter.settle(ticket, [1]);
      return null;
    };
    await empty();
    renew();
    await until(() => counter.epochs === 1);
    await atRest(counter);
    expect(left.length).toBeLessThan(tickets.length - 3);
    expect(await usedOf(counter, claim)).toBe(tickets.length);
  });

  test("what a share was used for while its process was cut off counts from when the calls were admitted, however late that is told", async () => {
    const { clock, process, teller } = world();
    const { link, counter } = await process();
    const other = await teller();
    const claim = windowClaim("w", 1_000);
    const early = (await serve(counter, [claim], 1)).length;
    await usedOf(counter, claim);
    link.isAway = true;
    const late = (await serve(counter, [claim], 5)).length;
    await until(() => !counter.isUp);
    clock.advance(20_000);
    link.isAway = false;
    await atRest(counter);
    await counter.leave();
    expect(await usedOf(other, claim)).toBe(early + late);
    // A window and one of its parts after the calls, and not after they were told.
    clock.advance(39_000);
    expect(await usedOf(other, claim)).toBe(early + late);
    clock.advance(2_500);
    expect(await usedOf(other, claim)).toBe(0);
  });

  test("a call served from a share counts what it used beyond its reservation when it ends, also when that left the window", async () => {
    const { clock, process, teller, renew } = world();
    const { counter } = await process();
    const other = await teller();
    const claim = windowClaim("w", 10_000, 4);
    const tickets = await serve(counter, [claim], 3);
    await usedOf(counter, claim);
    for (let second = 0; second < 70; second += 10) {
      clock.advance(10_000);
      renew();
      await usedOf(counter, claim);
    }
    for (const [index, ticket] of tickets.entries()) await counter.settle(ticket, [index === 0 ? 1 : 504]);
    await counter.leave();
    expect(await usedOf(other, claim)).toBe((tickets.length - 1) * 500);
    clock.advance(61_500);
    expect(await usedOf(other, claim)).toBe(0);
  });

  test("of a share that lapsed unused all is free a window after its lease ended, however late that is found; and at once when its owner comes back", async () => {
    const { clock, process, teller } = world();
    const { link, counter } = await process();
    const other = await teller();
    const claim = windowClaim("w", 100);
    const calls = (await serve(counter, [claim], 1)).length;
    await usedOf(counter, claim);
    const free = 100 - (await usedOf(other, claim));
    link.isAway = true;
    await until(() => !counter.isUp || usedOf(counter, claim).then(() => null));
    clock.advance(bounds.redisLeaseMs + 25_000);
    // It is found now, and counts as used when its lease ended.
    expect(await admittedOf(other, [claim])).toBe(free);
    link.isAway = false;
    await atRest(counter);
    await counter.leave();
    expect(await admittedOf(other, [claim])).toBe(100 - free - calls);
    clock.advance(61_500);
    const { link: dead, counter: gone } = await process();
    await serve(gone, [claim], 1);
    await usedOf(gone, claim);
    dead.isAway = true;
    gone.close();
    clock.advance(bounds.redisLeaseMs + 40_000);
    expect(await admittedOf(other, [claim])).toBeLessThan(100);
    clock.advance(21_500);
    expect(await admittedOf(other, [claim])).toBeGreaterThan(0);
  });

  test("what windows count of a call is counted once, and put right by how it ended, though its process's lease ended while it was away", async () => {
    const { clock, process, teller } = world();
    const { link, counter } = await process(false);
    const other = await teller();
    const claim = windowClaim("w", 100, 10);
    const [ended, live] = [await granted(counter, [claim]), await granted(counter, [claim])];
    link.isAway = true;
    await until(() => !counter.isUp || usedOf(counter, claim).then(() => null));
    clock.advance(bounds.redisLeaseMs + 1_000);
    expect(await usedOf(other, claim)).toBe(20);
    void counter.settle(ended.ticket, [4]);
    link.isAway = false;
    await atRest(counter);
    expect(await usedOf(other, claim)).toBe(14);
    await counter.settle(live.ticket, [1]);
    expect(await usedOf(other, claim)).toBe(5);
    clock.advance(61_000 - bounds.redisLeaseMs);
    expect(await usedOf(other, claim)).toBe(0);
  });

  test("a renewal that is answered late prolongs the lease from when it was asked for; no share is used after that", async () => {
    const { clock, process, renew } = world();
    const { link, counter } = await process();
    const claim = windowClaim("w", 1_000);
    const answer = Promise.withResolvers<void>();
    let asked = false;
    await serve(counter, [claim], 1);
    link.holds = (words) => {
      // Of all scripts only that of a renewal is told how long a lease is.
      if (!words.includes(String(bounds.redisLeaseMs))) return null;
      asked = true;
      return answer.promise;
    };
    clock.advance(1_000);
    renew();
    await until(() => asked);
    clock.advance(20_000);
    answer.resolve();
    await usedOf(counter, claim);
    await serve(counter, [claim], 1);
    link.isAway = true;
    // It ends 30 s after it was asked for, by the server; its owner stops somewhat sooner, and not before that.
    clock.advance(bounds.redisLeaseMs - 20_000 - shareLeaseMarginMs - 1);
    expect(counter.reserve([claim])).not.toBeInstanceOf(Promise);
    clock.advance(1);
    expect(await counter.reserve([claim])).toMatchObject({ granted: false, reason: "unreachable" });
  });

  test("a process that finds its lease lapsed uses nothing of its shares before it was told what is left of them", async () => {
    const { clock, process, teller, renew } = world();
    // Its own clock has stood still for as long, as that of a machine that was suspended.
    const own = new FakeClock();
    const { link, counter } = await process(eager, own);
    const claim = gaugeClaim("g", 100);
    await serve(counter, [claim], 1);
    await usedOf(counter, claim);
    clock.advance(bounds.redisLeaseMs + 1);
    expect(await admittedOf(await teller(), [claim])).toBe(100);
    const steps: (() => void)[] = [];
    link.holds = () => new Promise((resolve) => steps.push(resolve));
    renew();
    // Whatever it is told, one answer after the other: once it knows, it asks for each call.
    const asked: unknown[] = [];
    let knows = false;
    while (!(knows && counter.isUp && asked.length > 4)) {
      await until(() => steps.length > 0);
      steps.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      knows ||= !counter.isUp;
      if (!knows) continue;
      asked.push(counter.reserve([claim]));
      expect(asked.at(-1)).toBeInstanceOf(Promise);
    }
    link.holds = () => null;
    for (const go of steps.splice(0)) go();
    await Promise.all(asked);
  });

  test("a top-up is never more than its limit has left, from a share or beside it, and nothing from a share after its lease", async () => {
    const { clock, process, teller } = world();
    const { link, counter } = await process();
    const other = await teller();
    await meet(other, "b");
    const claim = budgetClaim("b", 100, 1);
    const tickets = await serve(counter, [claim], 1);
    const [first, last] = [tickets[0], tickets.at(-1)];
    if (first === undefined || last === undefined) throw new Error("there are two");
    const more = await counter.topUp(last, 1_000, 1);
    expect(more).toBe(100 - tickets.length);
    expect(await counter.topUp(first, 1, 1)).toBe(0);
    expect(await usedOf(other, claim)).toBe(100);
    for (const ticket of tickets) await counter.settle(ticket, [0]);
    await usedOf(counter, claim);
    clock.advance(bounds.shareRecallPauseMs);
    const again = (await serve(counter, [claim], 1)).at(-1);
    if (again === undefined) throw new Error("there is one");
    link.isAway = true;
    await until(() => !counter.isUp || usedOf(counter, claim).then(() => null));
    clock.advance(bounds.redisLeaseMs);
    expect(await counter.topUp(again, 1, 1)).toBe(0);
  });

  test("who leaves keeps nothing: neither shares nor a part among those that share", async () => {
    const { clock, process, teller } = world();
    clock.advance(1_000);
    const { counter } = await process();
    const other = await teller();
    await meet(other, "b");
    const claims = [windowClaim("w", 100), gaugeClaim("g", 100), budgetClaim("b", 100, 1)];
    const tickets = await serve(counter, claims, 1);
    for (const ticket of tickets) await counter.settle(ticket, [1, 0, 0]);
    await counter.leave();
    expect(await usedOf(other, claims[0] as Claim)).toBe(tickets.length);
    expect(await admittedOf(other, claims.slice(1))).toBe(100);
    const epoch = await ground.type("GET", `{messages-${worlds}}:epoch`);
    expect(await ground.type("ZCARD", `{messages-${worlds}}:${epoch}:owners`)).toBe(1);
  });

  test("what a share was told is not hidden by what a reservation was told that was asked for before", async () => {
    const { process, teller } = world();
    const { counter, plain } = await process();
    const claim = windowClaim("w", 1_000);
    const calls = (await serve(counter, [claim], 1)).length;
    const idle = (await usedOf(await teller(), claim)) - calls;
    await until(() => counter.unsent === 0);
    // The last call uses the share up, so it is told and asks for more: in one message with the reservation, and after it.
    const asked = plain.reserve([claim]);
    await Promise.resolve();
    for (let call = 0; call < idle; call++) expect(counter.reserve([claim])).not.toBeInstanceOf(Promise);
    await asked;
    await until(() => counter.unsent === 0);
    expect(counter.lastKnownState(claim)).toMatchObject({ used: calls + 1 + idle });
  });
});
