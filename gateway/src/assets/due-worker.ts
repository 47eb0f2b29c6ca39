import { type Asset, LastingFault, Sleeper } from "#core/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";

/** Longer than a fetch and what follows it. */
export const assetLeaseMs = 180_000;
/** Most concurrent assets, and the shortest and longest wait between checks for due ones. */
export const assetsAtOnceMax = 8;
export const assetTickMs = 2_000;
const assetRestMs = 15_000;

type Dependencies = Pick<AssetsDependencies, "store" | "clock" | "observer">;

/** `leaseUntil` is the due time of the row under the lease. */
type Work = (asset: Asset, leaseUntil: number, signal: AbortSignal) => Promise<void>;

/**
 * Leases and processes due assets. Several processes may share one store.
 *
 * idle: the next check is at the next due time, or after assetRestMs to find assets of other processes. busy: a check every
 * assetTickMs.
 */
export class DueWorker {
  readonly #dependencies: Dependencies;
  readonly #work: Work;
  readonly #active = new Set<Promise<void>>();
  readonly #end = new AbortController();
  readonly #sleeper: Sleeper;
  #running: Promise<void> | null = null;
  /** Woken during a check: another follows at once. */
  #isWoken = false;
  readonly #storeFault: LastingFault;

  constructor(dependencies: Dependencies, work: Work) {
    this.#dependencies = dependencies;
    this.#work = work;
    const { clock, observer } = dependencies;
    this.#sleeper = new Sleeper(clock);
    const fault = "failed to read due assets; retrying";
    this.#storeFault = new LastingFault({ clock, observer, level: "warn", fault, over: "due assets are read again" });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#isWoken = true;
    this.#sleeper.wake();
  }

  /** Aborts running work, which stays due. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#sleeper.end();
    await this.#running;
    await Promise.all(this.#active);
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#isWoken = false;
      const restMs = await this.#poll();
      if (!this.#isWoken) await this.#sleeper.sleep(restMs);
    }
  }

  /** Resolves to the wait until the next check. Never rejects. */
  async #poll(): Promise<number> {
    const { store, clock } = this.#dependencies;
    const free = assetsAtOnceMax - this.#active.size;
    if (free <= 0) return assetTickMs;
    const now = clock.now();
    try {
      let next = this.#active.size > 0 ? now : await store.nextDueAsset();
      // Leasing is a write, so skip it while nothing is due.
      if (next !== null && next <= now) {
        const due = await store.dueAssets(now, assetLeaseMs, free);
        for (const asset of due) this.#take(asset, now + assetLeaseMs);
        if (this.#active.size === 0) next = await store.nextDueAsset();
      }
      this.#storeFault.succeeded();
      return Math.min(Math.max((next ?? Number.POSITIVE_INFINITY) - now, assetTickMs), assetRestMs);
    } catch (thrown) {
      this.#storeFault.failed({ error: thrown });
      return assetTickMs;
    }
  }

  #take(asset: Asset, leaseUntil: number): void {
    const { observer } = this.#dependencies;
    const pass = this.#work(asset, leaseUntil, this.#end.signal)
      .catch((thrown: unknown) => {
        observer.log("warn", "failed to process an asset; retrying when its lease ends", {
          asset: asset.id,
          error: thrown,
        });
      })
      .finally(() => {
        this.#active.delete(pass);
        this.wake();
      });
    this.#active.add(pass);
  }
}
