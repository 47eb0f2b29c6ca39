import type { Environment } from "#config/index.ts";
import { createMemoryCounter, createRedisCounter, type Seeding } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import { heldClaims, seedRates } from "#limits/index.ts";
import type { Counter, Journal, Observer } from "#ports/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import type { Metrics } from "#telemetry/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";
import { holderOf } from "./holder.ts";
import { installationOf } from "./open-journal.ts";

export interface CounterOptions {
  readonly environment: Pick<Environment, "redisUrl">;
  readonly control: Control;
  readonly journal: Pick<Journal, "drained">;
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly observer: Observer;
  readonly metrics: Metrics;
}

/** What limits are counted with: the memory of this process, or the Redis that several share. */
export interface OpenedCounter {
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
export async function openCounter(options: CounterOptions): Promise<OpenedCounter> {
  const url = options.environment.redisUrl;
  return url === null ? await openMemory(options) : await openRedis(options, url.reveal());
}

async function openMemory(options: CounterOptions): Promise<OpenedCounter> {
  const { metrics, observer } = options;
  const counter = createMemoryCounter({ clock: options.control.clock, observer });
  await seedFrom(options, counter);
  metrics.numbers({ sluice_limits_counted: () => counter.size });
  metrics.numbers({ sluice_limits_turned_away_total: () => counter.turnedAway });
  return { counter, remark: () => null, close: async () => undefined };
}

async function openRedis(options: CounterOptions, url: string): Promise<OpenedCounter> {
  const { control, metrics, observer } = options;
  const counter = await createRedisCounter({
    url,
    owner: control.instanceId,
    installation: installationOf(control),
    clock: control.clock,
    ids: control.ids,
    observer,
    seed: async (seeded) => {
      await seedFrom(options, seeded);
      await seedHolds(options, seeded);
      for (const { id, isAlive } of await control.instances.list()) if (isAlive) seeded.await(id);
    },
    settled: (signal) => options.journal.drained(signal),
    onRoundTrip: metrics.duration("sluice_redis_round_trip_seconds"),
  });
  metrics.numbers({
    sluice_redis_up: () => (counter.isUp ? 1 : 0),
    sluice_redis_untold: () => counter.untold,
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
async function seedHolds(options: CounterOptions, counter: Seeding): Promise<void> {
  const { control } = options;
  const { database, vault, clock } = control;
  for await (const open of createTaskStore({ database, vault }).open()) {
    const principal = await holderOf(options, open);
    const claims = principal === null ? [] : heldClaims(principal, open.reservedNanoUsd, clock.now());
    if (claims.length > 0) await counter.hold(open.id, claims);
  }
}

function seedFrom({ control, configSnapshot }: CounterOptions, counter: Pick<Counter, "seed">): Promise<void> {
  const { ledgerStore, clock } = control;
  return seedRates({ counter, ledgerStore, clock, configSnapshot: configSnapshot.current });
}
