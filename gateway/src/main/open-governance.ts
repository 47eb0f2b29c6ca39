import { type ApiDependencies, AskRate, type PeriodSpend } from "#api/index.ts";
import { createMemoryCounter, createRedisCounter, type Seeding } from "#coordination/index.ts";
import { bounds, type Principal } from "#core/index.ts";
import { Authenticator } from "#identity/index.ts";
import type { AdoptionHooks } from "#ledger/index.ts";
import { Admission, callCounter, heldClaims, type LimitUsage, periodStart, seedRates } from "#limits/index.ts";
import type { Clock, Counter, Journal, Observer, ReportStore } from "#ports/index.ts";
import { steadyClock } from "#system/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { holderOf } from "./control.ts";
import type { Base } from "./open-base.ts";
import type { Data } from "./open-data.ts";
import { installationOf } from "./open-journal.ts";

export type Governance = Awaited<ReturnType<typeof openGovernance>>;

/** Opens what decides on a call before it is made: keys, limits and budgets, under the configuration in force. */
export async function openGovernance(base: Base, data: Data) {
  const { configSnapshot, control, processes, observer, ending, clock } = base;
  const { journal, reports, feed } = data;
  const counting = await openCounter(base, journal);
  ending.defer("counter", () => counting.close(), bounds.endStepMsMax);
  // Before the counter and the journal are closed: other processes take over at once.
  ending.defer("leases and words to other processes", () => processes.close());
  // What money is counted by: a clock that is set by mistake opens no new month.
  const steady = steadyClock(clock, observer);
  const spending = { reports, settled: (signal: AbortSignal) => journal.drained(signal), observer };
  const admission = new Admission({ counter: counting.counter, clock: steady, spending });
  ending.defer("budgets", () => admission.close());
  data.tellAdopted(adoptionHooks(admission, observer));
  ending.defer("journals of other processes", () => data.stopAdoption());
  const authenticator = new Authenticator({
    ...{ vault: control.vault, clock },
    keyStore: control.controlStore,
    configSnapshot: () => configSnapshot.current,
    changesKnownAtMs: () => feed.currentAtMs,
  });
  const unsubscribe = feed.subscribe((change) => {
    authenticator.changed(change);
    reports.forget();
    if (change.kind === "config") void configSnapshot.refresh().then(base.prepareDemo);
  });
  ending.defer("changes", unsubscribe);
  // What changed between the first reading and the subscription is in this second one, once the feed knows where it begins.
  await feed.catchUp();
  await configSnapshot.refresh();
  return { counting, steady, admission, authenticator, ...ownUsage(admission, reports, clock) };
}

/** What dead processes left counts for the budgets that are known, and what they held is freed. */
function adoptionHooks(admission: Admission, observer: Pick<Observer, "log">): Required<AdoptionHooks> {
  return {
    onStored: (entries) => {
      admission.storedElsewhere(entries).catch((error: unknown) =>
        observer.log("warn", "Budgets are not told what other processes left; they are read again by themselves.", {
          error,
        }),
      );
    },
    onAdopted: async (owner, storedAgoMs) => {
      await admission.adopted(owner, storedAgoMs);
      return true;
    },
  };
}

/** What a key is told of its own use. */
function ownUsage(
  admission: Admission,
  reports: Pick<ReportStore, "keyUsage">,
  clock: Clock,
): Pick<ApiDependencies, "countCall" | "keyUsage" | "periodSpend" | "limitUsage"> {
  const asks = new AskRate(clock);
  return {
    countCall: callCounter(admission),
    keyUsage: (principal, from, to) => {
      asks.take(principal.key.id);
      return reports.keyUsage(principal.key.id, from, to);
    },
    periodSpend: (principal) => {
      asks.take(principal.key.id);
      return periodSpend(reports, principal, clock);
    },
    limitUsage: async ({ scopes }) => (await admission.limitUsages(scopes)).map(limitUsageRow),
  };
}

/** What a key has spent since the day, the week and the month began, all in UTC. */
async function periodSpend(
  { keyUsage }: Pick<ReportStore, "keyUsage">,
  principal: Principal,
  clock: Pick<Clock, "now">,
): Promise<PeriodSpend> {
  const now = clock.now();
  const since = async (period: "day" | "week" | "month"): Promise<number> => {
    const sums = await keyUsage(principal.key.id, periodStart(period, now), now + 1);
    return sums.reduce((spent, { costNanoUsd }) => spent + costNanoUsd, 0);
  };
  const [day, week, month] = await Promise.all([since("day"), since("week"), since("month")]);
  return { day, week, month };
}

function limitUsageRow({ label, name, period, limit, used, resetsAt }: LimitUsage) {
  return { scope: label, kind: name, period, limit, used, resets_at: resetsAt };
}

/** What limits are counted with: the memory of this process, or the Redis that several share. */
interface OpenedCounter {
  readonly counter: Counter;
  /** What is amiss though calls can be taken, for `/readyz`; null: nothing. */
  readonly remark: () => string | null;
  /** Before the journal is closed, after the last call has ended. */
  close(): Promise<void>;
}

/**
 * Opens the counter, and tells it what the ledger knows of the last minute. Rejects with one line where the Redis can never do;
 * one that is away is tried until it is there, and meanwhile each limit does what its `fail` says.
 */
async function openCounter(base: Base, journal: Journal): Promise<OpenedCounter> {
  const { environment, control, metrics, observer } = base;
  if (environment.redisUrl !== null) return await openRedis(base, journal, environment.redisUrl.reveal());
  const counter = createMemoryCounter({ clock: control.clock, observer });
  await seedFrom(base, counter);
  metrics.numbers({ sluice_limits_counted: () => counter.size });
  metrics.numbers({ sluice_limits_turned_away_total: () => counter.rejected });
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
    sluice_redis_untold: () => counter.unsent,
    sluice_redis_places_beyond_lease: () => counter.placesBeyondLease,
  });
  metrics.numbers({ sluice_redis_epochs_total: () => counter.epochs });
  const remark = (): string | null => {
    const { problem } = counter;
    return problem === null ? null : `the shared counter of limits is away: ${problem}`;
  };
  return {
    counter,
    remark,
    close: () => counter.leave(AbortSignal.timeout(bounds.endStepMs)),
  };
}

/** What open tasks have set aside. With a counter of this process their own module does so. */
async function seedHolds(base: Base, counter: Seeding): Promise<void> {
  const { database, vault, clock } = base.control;
  for await (const open of createTaskStore({ database, vault }).open()) {
    const principal = await holderOf(base, open);
    const claims = principal === null ? [] : heldClaims(principal, open.reservedNanoUsd, clock.now());
    if (claims.length > 0) await counter.hold(open.id, claims);
  }
}

function seedFrom({ control, configSnapshot }: Base, counter: Pick<Counter, "seed">): Promise<void> {
  const { ledgerStore, clock } = control;
  return seedRates({ counter, ledgerStore, clock, configSnapshot: configSnapshot.current });
}
