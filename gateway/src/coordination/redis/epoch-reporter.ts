import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { LedgerProgress } from "./ledger-progress.ts";
import type { MessageQueue } from "./message-queue.ts";
import type { RedisCounterOptions } from "./options.ts";
import { redisFailureReason } from "./redis-failure.ts";
import { heldArgs, type SharedReservation, seedArgs } from "./reservation.ts";
import type { ScriptName } from "./scripts.ts";

/** The longest time for seeding an empty Redis from the ledger. */
const redisSeedMs = 30_000;
/** Another process takes over the seeding after this much silence. */
export const redisSeedLockMs = 4_000;

/** Holds and usage of this process. Times are monotonic milliseconds. */
export interface ProcessHoldings {
  /** Open reservations, and recent holds of tasks. */
  reservations(): Iterable<SharedReservation>;
  /** Concurrency slots held by running calls. */
  slots(): number;
  /** When the oldest settlement was made that Redis does not have yet; null: none. */
  unsentSinceMs(): number | null;
  /** Everything settled before `atMs` is in the ledger. */
  onDrained(atMs: number): void;
  /** Arguments of the scripts `spend` and `seed` for ended calls that may have been missing from the ledger at `readMs`. */
  notInLedger(readMs: number): {
    readonly costs: readonly (readonly string[])[];
    readonly uses: readonly (readonly string[])[];
  };
  resendShares(): Promise<void>;
  /** Redis is up and has this process's report. */
  onJoined(): void;
}

interface EpochReporterOptions {
  readonly options: RedisCounterOptions;
  readonly parts: ProcessHoldings;
  readonly owner: string;
  readonly keys: { readonly epoch: string; readonly lock: string; readonly holder: string };
  readonly ledgerProgress: LedgerProgress;
  readonly messages: MessageQueue;
  run(script: ScriptName, keys: readonly string[], epoch: string, args: readonly string[]): Promise<readonly unknown[]>;
  exec(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]>;
}

/** The ledger could not be read. */
export class SeedingFailed extends Error {}

/** Reports what this process holds to an epoch, and seeds a new epoch from the ledger. */
export class EpochReporter {
  readonly #options: EpochReporterOptions;
  readonly #peers = new Peers();

  constructor(options: EpochReporterOptions) {
    this.#options = options;
  }

  /** Runs the script `enter`. `name` is for a new epoch, if one is needed; an empty name starts none. */
  enter(name: string, previousName: string): Promise<readonly unknown[]> {
    const { epoch, lock, holder } = this.#options.keys;
    const lockMs = name === "" ? "" : String(redisSeedLockMs);
    const installation = this.#options.options.installation ?? "";
    const nowMs = this.#options.options.nowMs?.();
    const args = [
      name,
      lockMs,
      previousName,
      installation,
      String(bounds.redisLeaseMs),
      nowMs === undefined ? "" : String(nowMs),
    ];
    return this.#options.exec("enter", [epoch, lock, holder], args);
  }

  /** Reports usage that only this process has, and the list of live processes. */
  async report(epoch: string): Promise<void> {
    const keys = [this.#options.keys.epoch];
    const startedMs = this.#options.options.clock.monotonic();
    const [agoMs] = await this.#options.run("gather", keys, epoch, [
      this.#options.owner,
      "0",
      ...this.#peers.remaining(this.#options.options.clock.monotonic()),
    ]);
    // Do not await in between, so that each call is reported once: by its share while it runs, in `uses` once it has ended.
    const sharesSent = this.#options.parts.resendShares();
    const { costs, uses } = this.#options.parts.notInLedger(startedMs - Number(agoMs));
    for (let from = 0; from < uses.length; from += bounds.redisRestoreMax) {
      await this.#options.run("seed", keys, epoch, uses.slice(from, from + bounds.redisRestoreMax).flat());
    }
    await Promise.all(costs.map((args) => this.#options.messages.request(epoch, "spend", args)));
    await sharesSent;
    const [reported] = await this.#options.run("gather", keys, epoch, [this.#options.owner, "1"]);
    if (agoMs === -1 || reported === -1) throw new Error("the epoch ended at once.");
  }

  async #restoreOf(epoch: string, owner: string, live: readonly SharedReservation[]): Promise<void> {
    for (let from = 0; from < live.length; from += bounds.redisRestoreMax) {
      const nowMs = this.#options.options.clock.monotonic();
      const batch = live.slice(from, from + bounds.redisRestoreMax).filter(({ ended }) => !ended);
      const args = [owner, ...batch.flatMap((reservation) => reservation.restoreArgs(nowMs))];
      const [missing] = await this.#options.run("restore", [this.#options.keys.epoch], epoch, args);
      if (missing === -1) throw new Error("the epoch ended at once.");
    }
  }

  /** Reports open reservations and task holds. */
  async restore(epoch: string): Promise<void> {
    const live = [...this.#options.parts.reservations()];
    await this.#restoreOf(
      epoch,
      this.#options.owner,
      live.filter(({ outlivesProcess }) => !outlivesProcess),
    );
    await this.#restoreOf(
      epoch,
      "",
      live.filter(({ outlivesProcess }) => outlivesProcess),
    );
  }

  /** Reads the list of owners and when their leases end; false: this process is not on it. */
  readPeers(answer: unknown): boolean {
    const owners: readonly unknown[] = Array.isArray(answer) ? answer : [];
    if (!owners.includes(this.#options.owner)) return false;
    const { clock, nowMs } = this.#options.options;
    this.#peers.replace(owners, clock.monotonic() - (nowMs?.() ?? this.#options.ledgerProgress.serverMs));
    return true;
  }

  /** Until everything is seeded, scripts run against the lock's key, so that no other process counts in the epoch. */
  async seed(epoch: string): Promise<void> {
    const { lock } = this.#options.keys;
    const locks = [this.#options.keys.epoch, lock];
    let failure: unknown = null;
    const readMs = this.#options.ledgerProgress.serverMs - bounds.redisAnswerMs;
    const run = async (script: ScriptName, args: readonly string[]): Promise<void> => {
      try {
        const [done] = await this.#options.run(script, [lock], epoch, args);
        if (done === -1) throw new Error("seeding took too long.");
      } catch (thrown) {
        failure = thrown;
        throw thrown;
      }
    };
    const holdMs = redisSeedLockMs;
    const stopHolding = repeatFor(this.#options.options.clock, holdMs / 4, redisSeedMs, () => {
      this.#options.exec("holdLock", locks, [epoch, String(holdMs)]).catch(() => undefined);
    });
    try {
      await this.#options.options.seed?.({
        seed: (key, amount, at, windowMs) =>
          run("seed", seedArgs(key, amount, this.#options.options.clock.now() - at, windowMs)),
        hold: (id, claims) => run("restore", ["", ...heldArgs(id, claims)]),
        await: (owner) => this.#peers.add(owner, this.#options.options.clock.monotonic()),
      });
    } catch (thrown) {
      await this.#options.exec("abandon", locks, [epoch]).catch(() => undefined);
      throw failure ?? new SeedingFailed(`cannot read the ledger to seed it: ${redisFailureReason(thrown)}`);
    } finally {
      stopHolding();
    }
    await this.#options.exec("publish", locks, [
      ...[epoch, String(this.#options.ledgerProgress.serverMs), String(readMs)],
      ...[
        ...this.#peers.remaining(this.#options.options.clock.monotonic()),
        this.#options.owner,
        String(bounds.redisLeaseMs),
      ],
    ]);
  }
}

/** Until it is stopped or `forMs` have passed. */
function repeatFor(clock: Clock, ms: number, forMs: number, act: () => void): () => void {
  const endMs = clock.monotonic() + forMs;
  let stop = (): void => {};
  const later = (): void => {
    stop = clock.after(ms, () => {
      if (clock.monotonic() > endMs) return;
      act();
      later();
    });
  };
  later();
  return () => stop();
}

/** Processes of this epoch, including this one, with the monotonic times (milliseconds) when their leases end. */
class Peers {
  #untilMs = new Map<string, number>();

  /** `owners`: alternating ids and server times. `aheadMs`: monotonic time minus server time. */
  replace(owners: readonly unknown[], aheadMs: number): void {
    this.#untilMs = new Map();
    for (let at = 0; at < owners.length; at += 2) {
      this.#untilMs.set(String(owners[at]), Number(owners[at + 1]) + aheadMs);
    }
  }

  add(owner: string, atMs: number): void {
    if (!this.#untilMs.has(owner)) this.#untilMs.set(owner, atMs + bounds.redisLeaseMs);
  }

  /** Alternating ids and remaining milliseconds, as scripts read them. */
  remaining(atMs: number): readonly string[] {
    return [...this.#untilMs].flatMap(([owner, untilMs]) => [owner, String(Math.ceil(untilMs - atMs))]);
  }
}
