import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { RedisCounter, RedisCounterOptions, Seeding } from "#coordination/index.ts";
import { redisMoneyMs } from "#coordination/redis/lua-prelude.ts";
import { bounds } from "#core/index.ts";
import { Admission, type Permit } from "#limits/index.ts";
import type { RecentCost, SpendingQuery, SpendingReport } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { FakeClock } from "../fake-clock.ts";
import { governedPrincipal } from "../simulation/governed-principal.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

const money = (nanoUsd: number) => ({ tokens: 0, money: () => ({ most: nanoUsd, least: nanoUsd }) });
const principal = governedPrincipal({ key: { budget: { nanoUsd: 1_000, period: "total" } } });
const scopes = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };

/** One ledger shared by processes whose entries reach it when their drain runs. */
class Ledger {
  readonly #stored: (RecentCost & { readonly endedAt: number })[] = [];
  #count = 0;

  readonly reports = {
    spending: async (asks: readonly SpendingQuery[], endedSince: number): Promise<SpendingReport> => ({
      spent: asks.map(() => ({
        amount: this.#stored.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
        later: 0,
      })),
      recent: this.#stored.filter(({ endedAt }) => endedAt >= endedSince),
    }),
  };

  /** `aheadMs`: how far this process's clock is ahead. The ledger uses the same clock. */
  async process(fixture: RedisFixture, aheadMs = 0, shares: RedisCounterOptions["shares"] = false): Promise<Process> {
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
    const waiting: (RecentCost & { readonly endedAt: number })[] = [];
    let isStopped = false;
    let wake = Promise.withResolvers<void>();
    const drain = (): void => {
      this.#stored.push(...waiting.splice(0));
      wake.resolve();
      wake = Promise.withResolvers();
    };
    const settled = async (signal: AbortSignal): Promise<void> => {
      if (!isStopped) return drain();
      const left = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => left.resolve(), { once: true });
      await Promise.race([wake.promise, left.promise]);
    };
    const owner = `proc_${++this.#count}`;
    const counter = await fixture.counter({ owner, clock, settled, shares });
    const source = { reports: this.reports, settled, observer: { log: () => {} } };
    const admission = new Admission({ counter, clock, spending: source });
    const cost = (attemptId: string, costNanoUsd: number) => ({
      ...scopes,
      attemptId,
      at: clock.now(),
      costNanoUsd,
    });
    return {
      owner,
      counter,
      admission,
      stopDrain: () => (isStopped = true),
      resumeDrain: () => {
        isStopped = false;
        drain();
      },
      spend: (attemptId, costNanoUsd) => {
        waiting.push({ ...cost(attemptId, costNanoUsd), endedAt: clock.now() });
        admission.settled(cost(attemptId, costNanoUsd));
      },
      store: (attemptId, costNanoUsd) => {
        this.#stored.push({ ...cost(attemptId, costNanoUsd), endedAt: clock.now() });
        return cost(attemptId, costNanoUsd);
      },
    };
  }
}

interface Process {
  readonly owner: string;
  readonly counter: RedisCounter;
  readonly admission: Admission;
  stopDrain(): void;
  resumeDrain(): void;
  /** Settles a call of this process: its entry waits for the drain, and its cost is reported to the counter. */
  spend(attemptId: string, costNanoUsd: number): void;
  /** Stores an entry in the ledger without reporting it to the counter. */
  store(attemptId: string, costNanoUsd: number): RecentCost;
}

describe.skipIf(noRedis !== null)(`budgets in Redis${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  beforeEach(async () => {
    fixture = await RedisFixture.open();
  });
  afterEach(() => fixture.close());

  const usedOf = async ({ admission }: Process): Promise<number> => {
    const [usage] = await admission.limitUsages(principal.scopes);
    return Math.round((usage?.used ?? Number.NaN) * 1e9);
  };
  const reported = (...processes: readonly Process[]) =>
    until(() => processes.every(({ counter }) => counter.unsent === 0));
  const key = "budget:total:key:key_1";
  const invalidate = async (process: Process): Promise<void> => {
    await process.counter.invalidateSpending([{ key, periodStart: 0 }]);
  };

  test("keeps a dead process's money held until its journal is adopted, then counts what it spent once", async () => {
    const ledger = new Ledger();
    const [dead, alive] = [await ledger.process(fixture), await ledger.process(fixture)];
    const first = await dead.admission.admit(principal, money(100), "req_1");
    await dead.admission.admit(principal, money(300), "req_2");
    dead.stopDrain();
    dead.spend("att_1", 80);
    first.settle(0);
    await reported(dead);
    dead.counter.close();
    // Expire its lease.
    await fixture.type("ZADD", await fixture.keyOf("owners"), "1", dead.owner);
    expect(await usedOf(alive)).toBe(380);
    await expect((async () => alive.admission.admit(principal, money(700), "req_3"))()).rejects.toThrow("budget");
    expect(await fixture.type("ZSCORE", await fixture.keyOf("owners"), dead.owner)).toBeNull();
    expect(await usedOf(alive)).toBe(380);
    // The adopter stores the settled entry and closes the open one.
    const stored = [dead.store("att_1", 80), dead.store("att_2", 250)];
    await alive.admission.storedElsewhere(stored);
    await alive.admission.adopted(dead.owner, 0);
    await alive.admission.adopted(dead.owner, 0);
    const permit = await alive.admission.admit(principal, money(600), "req_4");
    expect(await usedOf(alive)).toBe(930);
    permit.release();
    await reported(alive);
    expect(await usedOf(alive)).toBe(330);
  });

  test("restores the money and places of a process that reconnects after its lease expired", async () => {
    const clock = new FakeClock();
    const nowMs = () => clock.now();
    const [late, other] = [await fixture.counter({ nowMs }), await fixture.counter({ nowMs })];
    await setSpent(other, "b");
    const claims = [gaugeClaim("g", 1), budgetClaim("b", 100, 60)];
    const { ticket } = await granted(late, claims);
    clock.advance(bounds.redisLeaseMs + 1);
    const place = await granted(other, [gaugeClaim("g", 1)]);
    expect(await other.peek(budgetClaim("b", 1, 0))).toMatchObject({ used: 60, held: 60 });
    // It finds its lease expired and reports what it holds.
    expect(await late.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false });
    expect((await other.peek(gaugeClaim("g", 1))).used).toBe(2);
    await late.settle(ticket, [0, 0]);
    await other.settle(place.ticket, [0]);
    expect((await other.peek(gaugeClaim("g", 1))).used).toBe(0);
    expect(await other.peek(budgetClaim("b", 1, 0))).toMatchObject({ used: 0, held: 0 });
  });

  test("frees the money of a process after the longest time when nobody adopts its journal", async () => {
    const clock = new FakeClock();
    const nowMs = () => clock.now();
    const [dead, other] = [await fixture.counter({ nowMs }), await fixture.counter({ nowMs })];
    await setSpent(other, "b");
    await granted(dead, [budgetClaim("b", 100, 60)]);
    dead.close();
    clock.advance(bounds.redisLeaseMs + 1);
    expect(await other.reserve([budgetClaim("b", 100, 60)])).toMatchObject({ granted: false, reason: "limit" });
    clock.advance(redisMoneyMs + 1);
    await granted(other, [budgetClaim("b", 100, 60)]);
  });

  test("includes reported costs that another process has not drained yet in every reading", async () => {
    const ledger = new Ledger();
    const [slow, reader] = [await ledger.process(fixture), await ledger.process(fixture)];
    (await slow.admission.admit(principal, money(10), "req_1")).settle(0);
    slow.stopDrain();
    slow.spend("att_1", 70);
    reader.spend("att_2", 5);
    await reported(slow, reader);
    await invalidate(reader);
    (await reader.admission.admit(principal, money(10), "req_2")).release();
    await reported(slow, reader);
    expect(await usedOf(reader)).toBe(75);
    slow.resumeDrain();
    await invalidate(reader);
    (await reader.admission.admit(principal, money(10), "req_3")).release();
    await reported(slow, reader);
    expect(await usedOf(reader)).toBe(75);
  });

  test.each([3, 24 * 60])(
    "counts each cost once after the ledger's clock stepped ahead by %d minutes",
    async (minutes) => {
      const ledger = new Ledger();
      const dead = await ledger.process(fixture);
      (await dead.admission.admit(principal, money(10), "req_1")).settle(0);
      dead.spend("att_1", 70);
      await reported(dead);
      dead.resumeDrain();
      // It crashes without leaving, so nobody knows yet whether its entries reached the ledger.
      dead.counter.close();
      const alive = await ledger.process(fixture, minutes * 60_000);
      await invalidate(alive);
      (await alive.admission.admit(principal, money(10), "req_2")).release();
      await reported(alive);
      expect(await usedOf(alive)).toBe(70);
      alive.spend("att_2", 5);
      alive.resumeDrain();
      await invalidate(alive);
      (await alive.admission.admit(principal, money(10), "req_3")).release();
      await reported(alive);
      expect(await usedOf(alive)).toBe(75);
    },
  );

  test("counts calls served from a share on a process whose first call was refused", async () => {
    const ledger = new Ledger();
    const eager = { callsPerLimitMin: 1, callsMin: 20, syncMsMin: 0 };
    const [busy, refused] = [await ledger.process(fixture), await ledger.process(fixture, 0, eager)];
    const held = await busy.admission.admit(principal, money(980), "req_1");
    await expect((async () => refused.admission.admit(principal, money(50), "req_2"))()).rejects.toThrow("held");
    held.settle(0);
    // The process leases a share without going through admission.
    const claim = { ...budgetClaim(key, 1_000, 50), periodStart: 0 };
    await until(async () => {
      const answer = refused.counter.reserve([claim], undefined, true);
      const later = await answer;
      if (later.granted) await refused.counter.settle(later.ticket, [0]);
      return !(answer instanceof Promise);
    });
    const permit = refused.admission.admit(principal, money(50), "req_3") as Permit;
    expect(permit).not.toBeInstanceOf(Promise);
    refused.spend("att_1", 40);
    permit.settle(0);
    await reported(refused);
    await refused.counter.leave();
    expect(await usedOf(busy)).toBe(40);
  });

  test("counts undrained costs again after Redis is emptied, and stored costs once", async () => {
    const ledger = new Ledger();
    const [slow, reader] = [await ledger.process(fixture), await ledger.process(fixture)];
    for (const { admission } of [slow, reader]) (await admission.admit(principal, money(10))).release();
    slow.stopDrain();
    slow.spend("att_1", 70);
    reader.spend("att_2", 5);
    await reported(slow, reader);
    await fixture.type("FLUSHALL");
    (await reader.admission.admit(principal, money(10), "req_2")).release();
    // The other process finds the new epoch with its next call.
    (await slow.admission.admit(principal, money(10), "req_3")).release();
    await reported(slow, reader);
    expect(await usedOf(reader)).toBe(75);
    slow.resumeDrain();
    await invalidate(slow);
    (await slow.admission.admit(principal, money(10), "req_4")).release();
    await reported(slow, reader);
    expect(await usedOf(reader)).toBe(75);
  });

  test("admits no more than the budget when Redis is emptied while a journal is not drained", async () => {
    const ledger = new Ledger();
    const processes = [await ledger.process(fixture), await ledger.process(fixture), await ledger.process(fixture)];
    const [slow, ...others] = processes as [Process, Process, Process];
    const closed = governedPrincipal({
      key: { budget: { nanoUsd: 1_000, period: "total" }, limits: { fail: "closed" } },
    });
    for (const { admission } of processes) (await admission.admit(closed, money(10))).release();
    await reported(...processes);
    slow.stopDrain();
    for (let call = 0; call < 12; call++) {
      const permit = await slow.admission.admit(closed, money(50), `slow_${call}`);
      slow.spend(`att_slow_${call}`, 50);
      permit.settle(0);
    }
    await reported(slow);
    await fixture.type("FLUSHALL");
    let spent = 600;
    const spend = async ({ admission, spend }: Process, id: string): Promise<boolean> => {
      try {
        const permit = await admission.admit(closed, money(50), id);
        spend(`att_${id}`, 50);
        spent += 50;
        permit.settle(0);
        return true;
      } catch (thrown) {
        // Until every process has reported what it holds, calls fail with other errors.
        return !/budget .* used up|exceeded|held/i.test(String(thrown));
      }
    };
    for (const [at, other] of others.entries()) {
      for (let call = 0; await spend(other, `req_${at}_${call}`); call++);
    }
    expect(spent).toBe(1_000);
    slow.resumeDrain();
  });

  test("admits no more than a rate when Redis is emptied while a journal is not drained", async () => {
    const ledger = new Ledger();
    const processes = [await ledger.process(fixture), await ledger.process(fixture), await ledger.process(fixture)];
    const [slow, ...others] = processes as [Process, Process, Process];
    const claims = [windowClaim("rpm", 300)];
    slow.stopDrain();
    for (let call = 0; call < 150; call++) await slow.counter.settle((await granted(slow.counter, claims)).ticket, [1]);
    await fixture.type("FLUSHALL");
    let admitted = 150;
    for (const { counter } of others) {
      for (let answer = await counter.reserve(claims); ; answer = await counter.reserve(claims)) {
        if (answer.granted) admitted++;
        else if (answer.reason === "limit") break;
      }
    }
    expect(admitted).toBe(300);
    slow.resumeDrain();
  });

  test("admits no more than a rate when Redis is emptied after a process died with an undrained journal", async () => {
    let stored = 0;
    const seed = async (empty: Seeding) => await empty.seed("rpm", stored, systemClock.now(), 60_000);
    const dead = await fixture.counter({ owner: "proc_dead", seed });
    const alive = await fixture.counter({ seed });
    const claims = [windowClaim("rpm", 300)];
    for (let call = 0; call < 150; call++) await dead.settle((await granted(dead, claims)).ticket, [1]);
    dead.close();
    await fixture.type("FLUSHALL");
    expect(await alive.reserve(claims)).toMatchObject({ granted: false, reason: "unreachable" });
    // The journal is adopted after the ledger was read for the rates.
    stored = 150;
    await alive.shared?.releaseOwner("proc_dead", 0);
    await until(() => alive.isUp);
    let admitted = 150;
    while ((await alive.reserve(claims)).granted) admitted++;
    expect(admitted).toBe(300);
    // Another adopter may release the same owner again.
    await alive.shared?.releaseOwner("proc_dead", 0);
    // The second reset is not logged as a loss.
    expect(alive.epochs).toBe(1);
    expect(fixture.logs.filter((line) => line.includes("seeding"))).toEqual([
      "warn: Redis lost its data (emptied, restarted or replaced); seeding limit counters from the ledger.",
      "info: Shared limit counters were reset to include the journal of a dead process; seeding them from the ledger.",
    ]);
  });

  test.each(["its lease has expired", "its journal was adopted"])(
    "counts nothing after Redis was emptied while a process has not reported what it holds, until %s",
    async (what) => {
      const clock = new FakeClock();
      const nowMs = () => clock.now();
      const dead = await fixture.counter({ nowMs, owner: "proc_dead" });
      const alive = await fixture.counter({ nowMs });
      dead.close();
      await fixture.type("FLUSHALL");
      const claims = [windowClaim("rpm", 300)];
      expect(await alive.reserve(claims)).toMatchObject({ granted: false, reason: "unreachable" });
      expect(alive.isUp).toBe(false);
      if (what === "its lease has expired") clock.advance(bounds.redisLeaseMs + 1);
      else await alive.shared?.releaseOwner("proc_dead", 0);
      await until(() => alive.isUp);
      await granted(alive, claims);
    },
  );

  test("counts a cost once when it is reported long after a reading that already includes it", async () => {
    const ledger = new Ledger();
    const [cut, reader] = [await ledger.process(fixture), await ledger.process(fixture)];
    (await reader.admission.admit(principal, money(10), "req_1")).release();
    await reported(reader);
    // As after an outage between this process and Redis, during which the ledger kept working.
    const cost = cut.store("att_1", 70);
    await invalidate(reader);
    (await reader.admission.admit(principal, money(10), "req_2")).release();
    expect(await usedOf(reader)).toBe(70);
    cut.admission.settled(cost);
    await cut.counter.spend(key, 0, { attemptId: "att_1", amount: 70 });
    expect(await usedOf(reader)).toBe(70);
  });

  test("keeps a task's hold after the process that created it left, recreates it nowhere, and ends it with the task", async () => {
    const ledger = new Ledger();
    const [maker, ender] = [await ledger.process(fixture), await ledger.process(fixture)];
    await maker.admission.hold(principal, 400, false, "vt_1");
    expect(await usedOf(ender)).toBe(400);
    await maker.admission.adopted(maker.owner, null);
    await maker.counter.leave();
    expect(await usedOf(ender)).toBe(400);
    expect(await ender.admission.someHolds(10)).toEqual([{ id: "vt_1", ageMs: expect.any(Number) }]);
    // This process has never read the budget.
    const cost = ender.store("att_1", 350);
    await ender.admission.endHold("vt_1", cost);
    await ender.admission.endHold("vt_1", cost);
    expect(await usedOf(ender)).toBe(350);
    expect(await ender.admission.someHolds(10)).toEqual([]);
  });

  test("restores the holds of open tasks after Redis is emptied, from the seeding process and from the one that just created a hold", async () => {
    let seeded = 0;
    const counter = await fixture.counter({
      seed: async (empty) => {
        if (seeded++ > 0) await empty.hold("vt_1", [budgetClaim("b", Number.POSITIVE_INFINITY, 30)]);
      },
    });
    await setSpent(counter, "b");
    const hold = await counter.shared?.hold("vt_2", [budgetClaim("b", 100, 40)]);
    expect(hold).toMatchObject({ granted: true, held: 40 });
    await fixture.type("FLUSHALL");
    await until(async () => (await counter.peek(budgetClaim("b", 1, 0))).held === 70);
    const holds = (await counter.shared?.sampleHolds(10)) ?? [];
    expect(holds.map(({ id }) => id).sort()).toEqual(["vt_1", "vt_2"]);
    expect(await counter.shared?.endHold("vt_1")).toBe(true);
    expect(await counter.shared?.endHold("vt_1")).toBe(false);
    expect(await counter.shared?.endHold("vt_2")).toBe(true);
    expect(await counter.peek(budgetClaim("b", 1, 0))).toMatchObject({ held: 0 });
    expect(counter.outstanding).toBe(0);
  });
});
