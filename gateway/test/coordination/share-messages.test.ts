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
import { ControlledLink, isShareMessage } from "./controlled-link.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

/** Leases everything that can be leased, from the first call on. */
const eager = { callsPerLimitMin: 1, callsMin: 20, syncMsMin: 0 };

/** Lost, delayed and repeated share messages, one scenario each. The simulation finds such scenarios at random. */
describe.skipIf(noRedis !== null)(`share messages${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  let worlds = 0;
  beforeAll(async () => {
    fixture = await RedisFixture.open();
  });
  afterAll(() => fixture.close());

  /** Processes on a separate counter. Counting uses the fake clock; waits use the machine's. */
  const world = () => {
    const clock = new FakeClock();
    const renewals: (() => void)[] = [];
    /** Timers of one process: a test renews its lease, and it never checks on its own for lost data. */
    const timers = () => {
      let isWatching = false;
      return (ms: number, act: () => void) => {
        // Only the first timer: a retry may use the same delay as the check.
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
      /** `own`: this process's clock, if it differs from the server's. */
      process: async (shares: RedisCounterOptions["shares"] = eager, own = clock) => {
        const link = new ControlledLink((...words) => fixture.type(...words));
        const counter = await fixture.counter({
          namespace,
          shares,
          answerMs: patienceMs,
          nowMs: () => clock.monotonic(),
          clock: { now: () => own.now(), monotonic: () => own.monotonic(), after: timers() },
          openLink: link.open,
        });
        return { link, plain: counter, counter: asCalls(counter) };
      },
      /** Deletes this world's data from the server. */
      empty: () => fixture.type("DEL", `{${namespace}}:epoch`),
      /** A counter without shares, to read what is counted. */
      counterWithoutShares: () => fixture.counter({ namespace, shares: false, nowMs: () => clock.monotonic() }),
    };
  };

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;
  const atRest = (counter: RedisCounter) => until(() => counter.isUp && counter.unsent === 0);

  /** Calls until `local` of them were served without asking the server. Returns all tickets. */
  const serve = async (counter: Counter, claims: readonly Claim[], local: number): Promise<readonly object[]> => {
    const tickets: object[] = [];
    for (let served = 0; served < local; ) {
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

  test("resends a message whose answer was lost and applies it once: uses, corrections and costs", async () => {
    const { process, counterWithoutShares } = world();
    const { link, counter } = await process();
    const other = await counterWithoutShares();
    await setSpent(other, "b");
    const claims = [windowClaim("w", 1_000, 4), gaugeClaim("g", 1_000), budgetClaim("b", 4_000, 4)];
    const lost = async (act: () => unknown): Promise<void> => {
      let count = 0;
      link.dropsAnswer = (words) => isShareMessage(words) && ++count === 1;
      await act();
      // A peek makes the process report first.
      await usedOf(counter, claims[0] as Claim);
      await atRest(counter);
      expect(count).toBeGreaterThan(1);
      link.dropsAnswer = () => false;
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

  test("counts a call that ends while its process is reporting what it holds to an emptied Redis", async () => {
    const { process, renew, empty } = world();
    const { link, counter } = await process();
    const claim = windowClaim("w", 1_000);
    const tickets = await serve(counter, [claim], 30);
    await atRest(counter);
    const left = [...tickets];
    // Settle one call before each answer.
    link.delaysAnswer = () => {
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

  test("counts a share's uses from when the calls were admitted, even when they are reported late after an outage", async () => {
    const { clock, process, counterWithoutShares } = world();
    const { link, counter } = await process();
    const other = await counterWithoutShares();
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
    // The window ends counting from the calls (plus one slice), not from when they were reported.
    clock.advance(39_000);
    expect(await usedOf(other, claim)).toBe(early + late);
    clock.advance(2_500);
    expect(await usedOf(other, claim)).toBe(0);
  });

  test("counts uses that come with a later message while the first one after a lapsed lease is answered", async () => {
    const { clock, process, counterWithoutShares } = world();
    const { link, counter } = await process();
    const other = await counterWithoutShares();
    const claim = windowClaim("w", 1_000);
    let calls = (await serve(counter, [claim], 1)).length;
    await usedOf(counter, claim);
    link.isAway = true;
    // The message that reports the first uses stays unanswered, so the others need another one.
    calls += (await serve(counter, [claim], 3)).length;
    await until(() => !counter.isUp);
    calls += (await serve(counter, [claim], 2)).length;
    clock.advance(bounds.redisLeaseMs + 1_000);
    expect(await usedOf(other, claim)).toBeGreaterThanOrEqual(calls);
    const counts: number[] = [];
    link.delaysAnswer = async (words) => {
      if (isShareMessage(words)) counts.push(await usedOf(other, claim));
    };
    link.isAway = false;
    await atRest(counter);
    expect(counts.length).toBeGreaterThan(1);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(calls);
    await counter.leave();
    expect(await usedOf(other, claim)).toBe(calls);
  });

  test("counts what a call from a share used beyond its reservation, also when the reservation has left the window", async () => {
    const { clock, process, counterWithoutShares, renew } = world();
    const { counter } = await process();
    const other = await counterWithoutShares();
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

  test("frees an unused share one window after its lease ended, or at once when its owner reconnects", async () => {
    const { clock, process, counterWithoutShares } = world();
    const { link, counter } = await process();
    const other = await counterWithoutShares();
    const claim = windowClaim("w", 100);
    const calls = (await serve(counter, [claim], 1)).length;
    await usedOf(counter, claim);
    const free = 100 - (await usedOf(other, claim));
    link.isAway = true;
    await until(() => !counter.isUp || usedOf(counter, claim).then(() => null));
    clock.advance(bounds.redisLeaseMs + 25_000);
    // The expired share is found now and counts as used from the end of its lease.
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

  test("counts a call in its window once and corrects it when it ends, even after its process's lease expired", async () => {
    const { clock, process, counterWithoutShares } = world();
    const { link, counter } = await process(false);
    const other = await counterWithoutShares();
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

  test("extends the lease from when the renewal was requested, and uses no share after that", async () => {
    const { clock, process, renew } = world();
    const { link, counter } = await process();
    const claim = windowClaim("w", 1_000);
    const answer = Promise.withResolvers<void>();
    let isRequested = false;
    await serve(counter, [claim], 1);
    link.delaysAnswer = (words) => {
      // Only the renewal script receives the length of a lease.
      if (!words.includes(String(bounds.redisLeaseMs))) return null;
      isRequested = true;
      return answer.promise;
    };
    clock.advance(1_000);
    renew();
    await until(() => isRequested);
    clock.advance(20_000);
    answer.resolve();
    await usedOf(counter, claim);
    await serve(counter, [claim], 1);
    link.isAway = true;
    // The server ends the lease 30 s after the request; its owner stops slightly earlier, and no sooner.
    clock.advance(bounds.redisLeaseMs - 20_000 - shareLeaseMarginMs - 1);
    expect(counter.reserve([claim])).not.toBeInstanceOf(Promise);
    clock.advance(1);
    expect(await counter.reserve([claim])).toMatchObject({ granted: false, reason: "unreachable" });
  });

  test("uses no share after its lease expired until the server reports what is left", async () => {
    const { clock, process, counterWithoutShares, renew } = world();
    // Its clock did not advance meanwhile, as on a suspended machine.
    const own = new FakeClock();
    const { link, counter } = await process(eager, own);
    const claim = gaugeClaim("g", 100);
    await serve(counter, [claim], 1);
    await usedOf(counter, claim);
    clock.advance(bounds.redisLeaseMs + 1);
    expect(await admittedOf(await counterWithoutShares(), [claim])).toBe(100);
    const steps: (() => void)[] = [];
    link.delaysAnswer = () => new Promise((resolve) => steps.push(resolve));
    renew();
    // Deliver the answers one by one: once the process knows that its lease expired, it asks for each call.
    const pending: unknown[] = [];
    let knowsOfExpiry = false;
    while (!(knowsOfExpiry && counter.isUp && pending.length > 4)) {
      await until(() => steps.length > 0);
      steps.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      knowsOfExpiry ||= !counter.isUp;
      if (!knowsOfExpiry) continue;
      pending.push(counter.reserve([claim]));
      expect(pending.at(-1)).toBeInstanceOf(Promise);
    }
    link.delaysAnswer = () => null;
    for (const go of steps.splice(0)) go();
    await Promise.all(pending);
  });

  test("tops up no more than the limit has left, with or without a share, and nothing from a share after its lease", async () => {
    const { clock, process, counterWithoutShares } = world();
    const { link, counter } = await process();
    const other = await counterWithoutShares();
    await setSpent(other, "b");
    const claim = budgetClaim("b", 100, 1);
    const tickets = await serve(counter, [claim], 1);
    const [first, last] = [tickets[0], tickets.at(-1)];
    if (first === undefined || last === undefined) throw new Error("two calls must be admitted");
    const more = await counter.topUp(last, 1_000, 1);
    expect(more).toBe(100 - tickets.length);
    expect(await counter.topUp(first, 1, 1)).toBe(0);
    expect(await usedOf(other, claim)).toBe(100);
    for (const ticket of tickets) await counter.settle(ticket, [0]);
    await usedOf(counter, claim);
    clock.advance(bounds.shareRecallPauseMs);
    const again = (await serve(counter, [claim], 1)).at(-1);
    if (again === undefined) throw new Error("no call was admitted");
    link.isAway = true;
    await until(() => !counter.isUp || usedOf(counter, claim).then(() => null));
    clock.advance(bounds.redisLeaseMs);
    expect(await counter.topUp(again, 1, 1)).toBe(0);
  });

  test("leaves no share and no membership when a process leaves", async () => {
    const { clock, process, counterWithoutShares } = world();
    clock.advance(1_000);
    const { counter } = await process();
    const other = await counterWithoutShares();
    await setSpent(other, "b");
    const claims = [windowClaim("w", 100), gaugeClaim("g", 100), budgetClaim("b", 100, 1)];
    const tickets = await serve(counter, claims, 1);
    for (const ticket of tickets) await counter.settle(ticket, [1, 0, 0]);
    await counter.leave();
    expect(await usedOf(other, claims[0] as Claim)).toBe(tickets.length);
    expect(await admittedOf(other, claims.slice(1))).toBe(100);
    const epoch = await fixture.type("GET", `{messages-${worlds}}:epoch`);
    expect(await fixture.type("ZCARD", `{messages-${worlds}}:${epoch}:owners`)).toBe(1);
  });

  test("keeps a share's newer state when an older reservation is answered later", async () => {
    const { process, counterWithoutShares } = world();
    const { counter, plain } = await process();
    const claim = windowClaim("w", 1_000);
    const calls = (await serve(counter, [claim], 1)).length;
    const idle = (await usedOf(await counterWithoutShares(), claim)) - calls;
    await until(() => counter.unsent === 0);
    // The last call uses up the share, so the process reports and asks for more in one message with the reservation.
    const reserved = plain.reserve([claim]);
    await Promise.resolve();
    for (let call = 0; call < idle; call++) expect(counter.reserve([claim])).not.toBeInstanceOf(Promise);
    await reserved;
    await until(() => counter.unsent === 0);
    expect(counter.recentState(claim)).toMatchObject({ used: calls + 1 + idle });
  });
});
