import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { DrainedUntil } from "./drained-until.ts";
import type { MessageQueue } from "./message-queue.ts";
import type { RedisCounterOptions } from "./options.ts";
import { reasonOf } from "./redis-failure.ts";
import { heldArgs, type SharedReservation, seedArgs } from "./reservation.ts";
import type { ScriptName } from "./scripts.ts";

/** How long a process may take to tell an empty Redis what the ledger has, and when its lock passes to another if it goes silent. */
const redisSeedMs = 30_000;
export const redisSeedLockMs = 4_000;

export interface MembershipParts {
  /** What this process has reserved and not ended, and what it reserved lately that lasts. */
  live(): Iterable<SharedReservation>;
  /** Places of limits on concurrency that running calls of this process hold. */
  places(): number;
  /** When, by the monotonic clock, the first was settled of what the counter has not been told yet; null: nothing waits. */
  untoldSinceMs(): number | null;
  /** All that was settled until then is in the ledger. */
  drained(atMs: number): void;
  /** Of ended calls, as the scripts `spend` and `seed` read it: what may not have been in the ledger at `readMs`. */
  unstored(readMs: number): {
    readonly costs: readonly (readonly string[])[];
    readonly uses: readonly (readonly string[])[];
  };
  /** The counter has lost what it was told: shares are told anew. */
  tellShares(): Promise<void>;
  /** The counter is there, and has all that this process holds. */
  joined(): void;
}

interface TellingWorld {
  readonly options: RedisCounterOptions;
  readonly parts: MembershipParts;
  readonly owner: string;
  readonly keys: { readonly epoch: string; readonly lock: string; readonly holder: string };
  readonly drained: DrainedUntil;
  readonly messages: MessageQueue;
  run(script: ScriptName, keys: readonly string[], epoch: string, args: readonly string[]): Promise<readonly unknown[]>;
  exec(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]>;
}

/** What the ledger knows could not be told: the fault is not the server's. */
export class SeedingFailed extends Error {}

/** What one process tells an epoch: what the ledger knows, where it begins one, and what it holds itself. */
export class EpochTelling {
  readonly #world: TellingWorld;
  readonly #peers = new Peers();

  constructor(world: TellingWorld) {
    this.#world = world;
  }

  /** See the script. `name` of an epoch to begin; empty to begin none. */
  look(name: string, begun: string): Promise<readonly unknown[]> {
    const { epoch, lock, holder } = this.#world.keys;
    const lockMs = name === "" ? "" : String(redisSeedLockMs);
    const installation = this.#world.options.installation ?? "";
    const nowMs = this.#world.options.nowMs?.();
    const args = [
      name,
      lockMs,
      begun,
      installation,
      String(bounds.redisLeaseMs),
      nowMs === undefined ? "" : String(nowMs),
    ];
    return this.#world.exec("enter", [epoch, lock, holder], args);
  }

  /** What only this process knows, and who else lives. */
  async tellAll(epoch: string): Promise<void> {
    const keys = [this.#world.keys.epoch];
    const askedMs = this.#world.options.clock.monotonic();
    const [agoMs] = await this.#world.run("gather", keys, epoch, [
      this.#world.owner,
      "0",
      ...this.#peers.left(this.#world.options.clock.monotonic()),
    ]);
    // Without a wait in between: its share reports a call that runs now, and `uses` has every call that has ended.
    const sharesTold = this.#world.parts.tellShares();
    const { costs, uses } = this.#world.parts.unstored(askedMs - Number(agoMs));
    for (let from = 0; from < uses.length; from += bounds.redisRestoreMax) {
      await this.#world.run("seed", keys, epoch, uses.slice(from, from + bounds.redisRestoreMax).flat());
    }
    await Promise.all(costs.map((args) => this.#world.messages.ask(epoch, "spend", args)));
    await sharesTold;
    const [told] = await this.#world.run("gather", keys, epoch, [this.#world.owner, "1"]);
    if (agoMs === -1 || told === -1) throw new Error("its epoch ended at once.");
  }

  async #restoreOf(epoch: string, owner: string, live: readonly SharedReservation[]): Promise<void> {
    for (let from = 0; from < live.length; from += bounds.redisRestoreMax) {
      const nowMs = this.#world.options.clock.monotonic();
      const batch = live.slice(from, from + bounds.redisRestoreMax).filter(({ ended }) => !ended);
      const args = [owner, ...batch.flatMap((reservation) => reservation.restoreArgs(nowMs))];
      const [missing] = await this.#world.run("restore", [this.#world.keys.epoch], epoch, args);
      if (missing === -1) throw new Error("its epoch ended at once.");
    }
  }

  /** What this process has reserved and not ended, and what lasts. */
  async restore(epoch: string): Promise<void> {
    const live = [...this.#world.parts.live()];
    await this.#restoreOf(
      epoch,
      this.#world.owner,
      live.filter(({ lasts }) => !lasts),
    );
    await this.#restoreOf(
      epoch,
      "",
      live.filter(({ lasts }) => lasts),
    );
  }

  /** Takes the list of owners with the ends of their leases; false: this process is not on it. */
  sees(answer: unknown): boolean {
    const owners: readonly unknown[] = Array.isArray(answer) ? answer : [];
    if (!owners.includes(this.#world.owner)) return false;
    const { clock, nowMs } = this.#world.options;
    this.#peers.see(owners, clock.monotonic() - (nowMs?.() ?? this.#world.drained.serverMs));
    return true;
  }

  /** The lock's own key stands in for the epoch's until all is seeded, so that nobody else counts in it. */
  async begin(epoch: string): Promise<void> {
    const { lock } = this.#world.keys;
    const locks = [this.#world.keys.epoch, lock];
    let failure: unknown = null;
    const readMs = this.#world.drained.serverMs - bounds.redisAnswerMs;
    const tell = async (script: ScriptName, args: readonly string[]): Promise<void> => {
      try {
        const [done] = await this.#world.run(script, [lock], epoch, args);
        if (done === -1) throw new Error("its seeding took too long.");
      } catch (thrown) {
        failure = thrown;
        throw thrown;
      }
    };
    const holdMs = redisSeedLockMs;
    const stopHolding = every(this.#world.options.clock, holdMs / 4, redisSeedMs, () => {
      this.#world.exec("holdLock", locks, [epoch, String(holdMs)]).catch(() => undefined);
    });
    try {
      await this.#world.options.seed?.({
        seed: (key, amount, at, windowMs) =>
          tell("seed", seedArgs(key, amount, this.#world.options.clock.now() - at, windowMs)),
        hold: (id, claims) => tell("restore", ["", ...heldArgs(id, claims)]),
        await: (owner) => this.#peers.add(owner, this.#world.options.clock.monotonic()),
      });
    } catch (thrown) {
      await this.#world.exec("abandon", locks, [epoch]).catch(() => undefined);
      throw failure ?? new SeedingFailed(`what the ledger knows cannot be read: ${reasonOf(thrown)}`);
    } finally {
      stopHolding();
    }
    await this.#world.exec("publish", locks, [
      ...[epoch, String(this.#world.drained.serverMs), String(readMs)],
      ...[...this.#peers.left(this.#world.options.clock.monotonic()), this.#world.owner, String(bounds.redisLeaseMs)],
    ]);
  }
}

/** Acts again and again, until it is stopped or `forMs` have passed. */
function every(clock: Clock, ms: number, forMs: number, act: () => void): () => void {
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

/** The processes that count, this one too, and until when by its monotonic clock their leases hold. */
class Peers {
  #untilMs = new Map<string, number>();

  /** `owners`: each and until when its lease holds by the server's clock; this process's is `aheadMs` ahead of that. */
  see(owners: readonly unknown[], aheadMs: number): void {
    this.#untilMs = new Map();
    for (let at = 0; at < owners.length; at += 2) {
      this.#untilMs.set(String(owners[at]), Number(owners[at + 1]) + aheadMs);
    }
  }

  /** One that lives: its lease holds for as long as a whole one. */
  add(owner: string, atMs: number): void {
    if (!this.#untilMs.has(owner)) this.#untilMs.set(owner, atMs + bounds.redisLeaseMs);
  }

  /** As scripts read it: each and for how many milliseconds its lease holds. */
  left(atMs: number): readonly string[] {
    return [...this.#untilMs].flatMap(([owner, untilMs]) => [owner, String(Math.ceil(untilMs - atMs))]);
  }
}
