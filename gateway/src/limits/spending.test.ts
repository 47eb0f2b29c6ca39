import { expect, test } from "bun:test";
import { budgetIdleMs } from "#coordination/budget.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import { bounds, type FailMode, Failure, type LimitScope, type Principal } from "#core/index.ts";
import type { RecentCost, SpendingQuery, SpendingReport } from "#ports/index.ts";
import { steadyClock } from "#system/index.ts";
import { clockTrustMs } from "#system/system-clock.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";

const scopes = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
const money = (nanoUsd: number) => ({ tokens: 0, money: () => ({ most: nanoUsd, least: nanoUsd }) });

/** Turns of the loop in which everything that waits for no clock is done. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

function bucketsOf({ bucketMs }: SpendingQuery, costs: readonly RecentCost[]) {
  if (bucketMs === undefined) return {};
  return { buckets: costs.map(({ at, costNanoUsd }) => [at - (at % bucketMs), costNanoUsd] as const) };
}

/** An admission over a ledger whose readings can be delayed. */
function fixture(options: { readonly down?: boolean } = {}) {
  const clock = new FakeClock(Date.UTC(2026, 4, 10, 12));
  const steady = steadyClock(clock, { log: () => {} });
  const entries: (RecentCost & { readonly endedAt: number })[] = [];
  const state = { down: options.down ?? false, asked: 0, hold: null as Promise<void> | null };
  const inPeriod = (ask: SpendingQuery, at: number) => at >= ask.from && at < (ask.to ?? Number.POSITIVE_INFINITY);
  const sum = (costs: readonly RecentCost[]) => costs.reduce((all, { costNanoUsd }) => all + costNanoUsd, 0);
  const reports = {
    async spending(asks: readonly SpendingQuery[], endedSince: number): Promise<SpendingReport> {
      state.asked += asks.length;
      if (state.down) throw new Error("closed");
      const seen = [...entries];
      if (state.hold !== null) await state.hold;
      const spent = asks.map((ask) => ({
        amount: sum(seen.filter(({ at }) => inPeriod(ask, at))),
        later: sum(seen.filter(({ at }) => at >= (ask.to ?? Number.POSITIVE_INFINITY))),
        ...bucketsOf(
          ask,
          seen.filter(({ at }) => inPeriod(ask, at)),
        ),
      }));
      return { spent, recent: seen.filter(({ endedAt }) => endedAt >= endedSince) };
    },
  };
  const counter = createMemoryCounter({ clock });
  const source = { reports, settled: async () => {}, observer: { log: () => {} } };
  const admission = new Admission({ counter, clock: steady, spending: source });
  let count = 0;
  const enter = (costNanoUsd: number, at = steady.now()) => {
    const cost = { ...scopes, attemptId: `att_${++count}`, at, costNanoUsd };
    entries.push({ ...cost, endedAt: steady.now() });
    return cost;
  };
  const spend = (costNanoUsd: number, at?: number) => admission.settled(enter(costNanoUsd, at));
  return { clock, admission, counter, source, state, enter, spend };
}

const keyWith = (nanoUsd: number, period: "day" | "month" | "total" = "day", fail?: FailMode): Principal =>
  governedPrincipal({ key: { budget: { nanoUsd, period, ...(fail === undefined ? {} : { fail }) } } });

const admitted = async (admission: Admission, ...asked: Parameters<Admission["admit"]>) => admission.admit(...asked);

const codeOf = (thrown: unknown): string => (thrown instanceof Failure ? thrown.code : String(thrown));

test("a budget that is loaded while calls end counts the ledger's entries and later ones, each once", async () => {
  const { admission, state, enter, spend } = fixture();
  spend(100);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.hold = promise;
  const limitUsage = admission.limitUsages(keyWith(1_000).scopes);
  // Three entries: read, then settled; settled, then read; only settled.
  const late = enter(7);
  spend(20);
  await settle();
  spend(3);
  resolve();
  const [before] = await limitUsage;
  expect((before?.used ?? 0) * 1e9).toBeCloseTo(130, 3);
  admission.settled(late);
  const [after] = await admission.limitUsages(keyWith(1_000).scopes);
  expect((after?.used ?? 0) * 1e9).toBeCloseTo(130, 3);
});

test("a budget without a reading refuses at once unless it fails open, and the reading is retried", async () => {
  const { clock, admission, state, spend } = fixture({ down: true });
  spend(100);
  const refused = await admitted(admission, keyWith(150), money(60)).catch(codeOf);
  expect(refused).toBe("ledger_unavailable");
  const open = await admission.admit(keyWith(150, "day", "open"), money(60));
  open.release();
  const asked = state.asked;
  state.down = false;
  for (let second = 0; second < 3; second++) {
    await settle();
    clock.advance(1_000);
  }
  await settle();
  expect(state.asked).toBe(asked + 1);
  const known = () => admission.admit(keyWith(150), money(60));
  expect(known).toThrow("budget");
  expect(admission.outstanding).toBe(0);
});

test("the usage of a budget is null until its spending can be read", async () => {
  const { clock, admission, state, spend } = fixture({ down: true });
  spend(100);
  const principal = governedPrincipal({ key: { limits: { rpm: 5 }, budget: { nanoUsd: 1_000, period: "day" } } });
  const used = async () =>
    (await admission.limitUsages(principal.scopes)).map((limitUsage) => [limitUsage.name, limitUsage.used]);
  expect(await used()).toEqual([
    ["budget", null],
    ["rpm", 0],
  ]);
  // The counter has only a part of the spending.
  spend(9);
  expect((await used())[0]).toEqual(["budget", null]);
  state.down = false;
  for (let second = 0; second < 3; second++) {
    await settle();
    clock.advance(1_000);
  }
  await settle();
  expect((await used())[0]).toEqual(["budget", 109 / 1e9]);
});

test("a reading that never finishes delays no call longer than its bound", async () => {
  const { clock, admission, state } = fixture();
  state.hold = new Promise(() => {});
  const waiting = admitted(admission, keyWith(150), money(60)).catch(codeOf);
  await settle();
  clock.advance(bounds.budgetReadWaitMs);
  expect(await waiting).toBe("ledger_unavailable");
});

test("many budgets that are used at once are read together", async () => {
  const { admission, state } = fixture();
  await admission.limitUsages(
    Array.from({ length: 200 }, (_, n) => ({ ...keyScope, id: `key_${n}`, budget: { nanoUsd: 5, period: "day" } })),
  );
  expect(state.asked).toBe(200);
});
const keyScope = { kind: "key", label: "key acme/x", limits: {} } as const;

test("a clock that is set 31 days forward and back admits no more than the budget, however long the clock was wrong", async () => {
  for (const stayMs of [60_000, 3_600_000]) {
    const { clock, admission, spend } = fixture();
    const principal = keyWith(10, "month");
    let spent = 0;
    const tryAll = async () => {
      for (let call = 0; call < 20; call++) {
        const permit = await admitted(admission, principal, money(1)).catch(() => null);
        if (permit === null) continue;
        spend(1);
        permit.settle(0);
        spent++;
      }
    };
    await tryAll();
    clock.jump(31 * 86_400_000);
    await tryAll();
    // A new month, and so a new budget, begins only if the clock stays there.
    clock.advance(stayMs);
    await tryAll();
    const inNewMonth = spent - 10;
    expect(inNewMonth).toBe(stayMs > clockTrustMs ? 10 : 0);
    clock.jump(-31 * 86_400_000);
    await tryAll();
    clock.advance(3_600_000);
    await tryAll();
    expect(spent).toBe(10 + inNewMonth);
  }
});

test("an idle budget is evicted and read from the ledger again", async () => {
  const { clock, admission, counter, spend } = fixture();
  const principal = keyWith(100, "total");
  (await admitted(admission, principal, money(1))).release();
  spend(42);
  expect(counter.size).toBe(1);
  clock.advance(budgetIdleMs + 1);
  for (let call = 0; call < 100; call++) {
    const permit = admission.admit(governedPrincipal({ group: { limits: { rpm: 1_000 } } }), money(0));
    if (!(permit instanceof Promise)) permit.release();
  }
  clock.advance(61_000);
  spend(8);
  const [limitUsage] = await admission.limitUsages(principal.scopes);
  expect((limitUsage?.used ?? 0) * 1e9).toBeCloseTo(50, 3);
});

test("after 50,000 scopes have called, limits of new ones hold exactly, and ended ones are evicted", async () => {
  const { clock, admission, counter } = fixture();
  const limited = (id: string): Principal => {
    const principal = governedPrincipal({ key: { limits: { rpm: 5 }, budget: { nanoUsd: 100, period: "day" } } });
    const scope = { ...principal.key.scope, id };
    return { ...principal, key: { ...principal.key, id, scope }, scopes: [scope] };
  };
  for (let batch = 0; batch < 250; batch++) {
    const permits = Array.from({ length: 200 }, (_, n) => admission.admit(limited(`key_${batch}_${n}`), money(1)));
    for (const permit of await Promise.all(permits)) permit.settle(0);
    clock.advance(100);
  }
  expect(counter.size).toBeLessThanOrEqual(100_000);
  const newcomer = limited("key_new");
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => admitted(admission, newcomer, money(1)).catch(codeOf)),
  );
  expect(answers.filter((answer) => typeof answer !== "string")).toHaveLength(5);
  for (const answer of answers) if (typeof answer !== "string") answer.settle(0);
  expect([admission.outstanding, counter.rejected]).toEqual([0, 0]);
  // A day later the same number of calls of one key evicts them.
  clock.advance(86_400_000);
  const one = limited("key_one");
  for (let call = 0; call < 600_000 && counter.size > 100; call++) {
    const permit = admission.admit(one, money(0));
    (permit instanceof Promise ? await permit : permit).release();
  }
  expect(counter.size).toBeLessThanOrEqual(100);
});

test("a top-up of a running call waits while its budget's spending is read again, and gets what is left then", async () => {
  const { clock, admission, state, enter, spend } = fixture();
  const permit = await admitted(admission, keyWith(1_000), money(100));
  spend(400);
  admission.storedElsewhere([enter(300)]);
  expect(await permit.topUp(500, 1)).toBe(200);
  expect(permit.held).toBe(300);
  admission.storedElsewhere([enter(0), enter(50)]);
  permit.settle(0);
  const other = await admitted(admission, keyWith(1_000), money(50));
  state.down = true;
  admission.storedElsewhere([enter(10)]);
  expect(await other.topUp(500, 1)).toBe(0);
  state.down = false;
  clock.advance(bounds.budgetReadRetryMs);
  await settle();
  expect(await other.topUp(500, 1)).toBe(190);
});

const minuteMs = 60_000;

function keyWithBudget(budget: NonNullable<LimitScope["budget"]>): Principal {
  return governedPrincipal({ key: { budget } });
}

test("a rolling budget refuses with the time at which enough is free, and admits then", async () => {
  const { clock, admission, spend } = fixture();
  const key = keyWithBudget({ nanoUsd: 1_000, period: "hour", rolling: true });
  spend(600, clock.now() - 30 * minuteMs);
  const permit = await admitted(admission, key, money(300));
  spend(300);
  permit.settle(0);
  const refusal = await admitted(admission, key, money(500)).catch((thrown: unknown) => thrown);
  if (!(refusal instanceof Failure)) throw new Error("it was admitted");
  expect(refusal.message).toContain("budget of 0.000001 USD in 60 minutes on key acme/ci");
  // The entry of 11:30 leaves the window at 12:31.
  expect(refusal.message).toContain("wait until 2026-05-10T12:31:00.000Z");
  expect(refusal.details?.resets_at).toBe(Date.UTC(2026, 4, 10, 12, 31) / 1_000);
  clock.advance(30 * minuteMs);
  await expect(admitted(admission, key, money(500))).rejects.toThrow();
  clock.advance(minuteMs);
  (await admitted(admission, key, money(500))).settle(0);
});

test("after a restart, a rolling budget and one of a time zone have the same usage", async () => {
  for (const budget of [
    { nanoUsd: 1_000, period: "hour", rolling: true },
    { nanoUsd: 1_000, period: "day", rolling: true },
    { nanoUsd: 1_000, period: "day", timeZone: "Asia/Kolkata" },
  ] as const) {
    const { clock, admission, counter, source, spend } = fixture();
    const key = keyWithBudget(budget);
    (await admitted(admission, key, money(1))).settle(0);
    for (const [cost, ago] of [
      [100, 1_500],
      [30, 1_050],
      [20, 300],
      [7, 20],
      [3, 0],
    ] as const) {
      spend(cost, clock.now() - ago * minuteMs);
    }
    const other = new Admission({ counter: createMemoryCounter({ clock }), clock, spending: source });
    for (const ahead of [0, 35, 1_400]) {
      clock.advance(ahead * minuteMs);
      const [[before], [after]] = await Promise.all([admission.limitUsages(key.scopes), other.limitUsages(key.scopes)]);
      expect(after).toEqual(before as never);
    }
    expect(counter.outstanding).toBe(0);
  }
});
