import type { ApiDependencies, PeriodSpend } from "#api/index.ts";
import { type BatchStore, createBatchStore, withHeldBudgets } from "#batches/index.ts";
import { createMemoryCounter, createRedisCounter, type Seeding } from "#coordination/index.ts";
import { batchHeldCall, batchHoldId, bounds, Failure, type Principal, periodStart, WindowCounts } from "#core/index.ts";
import { Authenticator, UploadTokens } from "#identity/index.ts";
import type { AdoptionHooks } from "#ledger/index.ts";
import { Admission, callCounter, heldClaims, type LimitUsage, seedRates } from "#limits/index.ts";
import type { Clock, Counter, Journal, ReportStore } from "#ports/index.ts";
import { steadyClock } from "#system/index.ts";
import { createTaskStore, taskHold } from "#tasks/index.ts";
import { holderOf } from "./control.ts";
import type { Base } from "./open-base.ts";
import type { Data } from "./open-data.ts";
import { installationOf } from "./open-journal.ts";

export type Governance = Awaited<ReturnType<typeof openGovernance>>;

/** Opens authentication, limits and budgets. */
export async function openGovernance(base: Base, data: Data) {
  const { configSnapshot, control, processes, observer, ending, clock } = base;
  const { journal, reports, feed } = data;
  const counting = await openCounter(base, journal);
  ending.defer("counter", () => counting.close(), bounds.endStepMsMax);
  // Before the counter and the journal, so that other processes take over at once.
  ending.defer("leases and messages to other processes", () => processes.close());
  // For money: a clock that is set by mistake must not start a new month.
  const steady = steadyClock(clock, observer);
  const spending = { reports, settled: (signal: AbortSignal) => journal.drained(signal), observer };
  const admission = new Admission({
    ...{ counter: counting.counter, clock: steady, spending },
    policies: () => configSnapshot.current.budgetPolicies,
    onShadowRefusal: ({ name, scope }) => base.metrics.shadowRefusal(name, scope.kind),
  });
  ending.defer("budgets", () => admission.close());
  const batchStore = createBatchStore({ database: control.database });
  data.onAdopted(adoptionHooks(admission, batchStore, base));
  ending.defer("journals of other processes", () => data.stopAdoption());
  const authenticator = new Authenticator({
    ...{ vault: control.vault, clock },
    keyStore: control.controlStore,
    configSnapshot: () => configSnapshot.current,
    feedReadAtMs: () => feed.currentAtMs,
  });
  const uploadTokens = new UploadTokens({
    ...{ vault: control.vault, clock, authenticator },
    keyById: (id) => control.controlStore.keyById(id),
  });
  const unsubscribe = feed.subscribe((change) => {
    authenticator.changed(change);
    reports.forget();
    if (change.kind === "config") void configSnapshot.refresh().then(base.prepareDemo);
  });
  ending.defer("changes", unsubscribe);
  // Includes changes between the first read and the subscription.
  await feed.catchUp();
  await configSnapshot.refresh();
  return { counting, steady, admission, authenticator, uploadTokens, ...ownUsage(admission, reports, clock) };
}

/** Charges entries of dead processes to the budgets and frees what they held. */
function adoptionHooks(
  admission: Admission,
  batches: Pick<BatchStore, "resolveRows">,
  { observer, clock }: Pick<Base, "observer" | "clock">,
): Required<AdoptionHooks> {
  return {
    onStored: (entries) => {
      admission
        .storedElsewhere(entries)
        .catch((error: unknown) =>
          observer.log("warn", "failed to apply adopted entries to budgets; budgets will be re-read", { error }),
        );
    },
    onAdopted: async (owner, storedAgoMs) => {
      await admission.adopted(owner, storedAgoMs);
      // Now the ledger shows which rows of batches it had sent.
      await batches.resolveRows(owner, true, clock.now());
      return true;
    },
  };
}

/** Usage that a key may read about itself. */
function ownUsage(
  admission: Admission,
  reports: Pick<ReportStore, "keyUsage">,
  clock: Clock,
): Pick<ApiDependencies, "countCall" | "keyUsage" | "periodSpend" | "limitUsage"> {
  const usageRequests = new WindowCounts({
    max: bounds.usageRequestsMax,
    windowMs: 60_000,
    keysMax: bounds.keyCacheEntriesMax,
    clock,
  });
  // Each answer is read from the database.
  const countUsageRequest = ({ key }: Principal): void => {
    const waitMs = usageRequests.take(key.id);
    if (waitMs === 0) return;
    const message = `A key may request its usage ${bounds.usageRequestsMax} times a minute; try again later.`;
    throw new Failure("rate_limit_exceeded", message, { retryAfterMs: waitMs });
  };
  return {
    countCall: callCounter(admission),
    keyUsage: (principal, query) => {
      countUsageRequest(principal);
      return reports.keyUsage(principal.key.id, query);
    },
    periodSpend: (principal) => {
      countUsageRequest(principal);
      return periodSpend(reports, principal, clock);
    },
    limitUsage: async (principal) => {
      const usages = await admission.limitUsages([...admission.policyScopes(principal), ...principal.scopes]);
      return usages.filter(({ isShadow }) => !isShadow).map(limitUsageRow);
    },
  };
}

/** The spend of a key in the current day, week and month (UTC). */
async function periodSpend(
  { keyUsage }: Pick<ReportStore, "keyUsage">,
  principal: Principal,
  clock: Pick<Clock, "now">,
): Promise<PeriodSpend> {
  const now = clock.now();
  const since = async (period: "day" | "week" | "month"): Promise<number> => {
    const sums = await keyUsage(principal.key.id, { from: periodStart(period, now), to: now + 1 });
    return sums.reduce((spent, { costNanoUsd }) => spent + costNanoUsd, 0);
  };
  const [day, week, month] = await Promise.all([since("day"), since("week"), since("month")]);
  return { day, week, month };
}

function limitUsageRow({ label, name, period, limit, used, resetsAt }: LimitUsage) {
  return { scope: label, kind: name, period, limit, used, resets_at: resetsAt };
}

interface OpenedCounter {
  readonly counter: Counter;
  /** A problem for `/readyz`; null if there is none. */
  readonly remark: () => string | null;
  /** Call it after the last call, before the journal is closed. */
  close(): Promise<void>;
}

/**
 * Opens the counter of limits, in memory or in Redis, and fills it with the last minute of the ledger. Rejects if the Redis is
 * unsuitable. An unreachable one is retried; meanwhile each limit's `fail` applies.
 */
async function openCounter(base: Base, journal: Journal): Promise<OpenedCounter> {
  const { environment, control, metrics, observer } = base;
  if (environment.redisUrl !== null) return await openRedis(base, journal, environment.redisUrl.reveal());
  const counter = createMemoryCounter({ clock: control.clock, observer });
  await seedFrom(base, counter);
  metrics.numbers({ sluice_limits_counted: () => counter.size });
  metrics.numbers({ sluice_limit_checks_dropped_total: () => counter.rejected });
  return { counter, remark: () => null, close: async () => undefined };
}

async function openRedis(base: Base, journal: Journal, url: string): Promise<OpenedCounter> {
  const { control, metrics, observer } = base;
  const counter = await createRedisCounter({
    url,
    owner: control.instanceId,
    installation: installationOf(control),
    clock: control.clock,
    ids: control.ids,
    observer,
    seed: async (seeded) => {
      await seedFrom(base, seeded);
      await seedHolds(base, seeded);
      for (const { id, isAlive } of await control.instances.list()) if (isAlive) seeded.await(id);
    },
    settled: (signal) => journal.drained(signal),
    onRoundTrip: metrics.duration("sluice_redis_round_trip_seconds"),
  });
  metrics.numbers({
    sluice_redis_up: () => (counter.isUp ? 1 : 0),
    sluice_redis_unsent: () => counter.unsent,
    sluice_redis_slots_beyond_lease: () => counter.slotsBeyondLease,
  });
  metrics.numbers({ sluice_redis_resets_total: () => counter.epochs });
  const remark = (): string | null => {
    const { problem } = counter;
    return problem === null ? null : `the shared counter (Redis) is unavailable: ${problem}`;
  };
  return {
    counter,
    remark,
    close: () => counter.leave(AbortSignal.timeout(bounds.endStepMs)),
  };
}

/** Restores the holds of open tasks and batches. With the counter in memory their modules do it. */
async function seedHolds(base: Base, counter: Seeding): Promise<void> {
  const { database, vault, clock } = base.control;
  for await (const open of createTaskStore({ database, vault }).open()) {
    const principal = await holderOf(base, open);
    if (principal === null) continue;
    const { call, sent } = taskHold(open);
    const claims = heldClaims(principal, open.reservedNanoUsd, clock, { call });
    if (claims.length > 0) await counter.hold(open.id, claims);
    const atProvider = sent === null ? [] : heldClaims(principal, open.reservedNanoUsd, clock, sent);
    if (sent !== null && atProvider.length > 0) await counter.hold(sent.id, atProvider);
  }
  const batches = createBatchStore({ database });
  for await (const batch of batches.open()) {
    const principal = await holderOf(base, batch);
    if (principal === null) continue;
    for (const { piece } of await batches.openPieces(batch.id)) {
      const claims = heldClaims(withHeldBudgets(principal, batch), batch.holds[piece] ?? 0, clock, {
        call: batchHeldCall(batch),
      });
      if (claims.length > 0) await counter.hold(batchHoldId(batch.id, piece), claims);
    }
  }
}

function seedFrom({ control, configSnapshot }: Base, counter: Pick<Counter, "seed">): Promise<void> {
  const { ledgerStore, clock } = control;
  return seedRates({ counter, ledgerStore, clock, configSnapshot: configSnapshot.current });
}
