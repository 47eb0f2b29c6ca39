import { type Asset, LastingFault } from "#core/index.ts";
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
  #cancelTick = (): void => {};
  #started = false;
  /** The running check, and whether another must follow. */
  #polling: Promise<void> | null = null;
  #checkAgain = false;
  readonly #storeFault: LastingFault;

  constructor(dependencies: Dependencies, work: Work) {
    this.#dependencies = dependencies;
    this.#work = work;
    const { clock, observer } = dependencies;
    const fault = "Cannot read due assets; retrying.";
    this.#storeFault = new LastingFault({ clock, observer, level: "warn", fault, over: "Due assets are read again." });
  }

  start(): void {
    if (this.#started || this.#end.signal.aborted) return;
    this.#started = true;
    this.wake();
  }

  wake(): void {
    if (!this.#started || this.#end.signal.aborted) return;
    if (this.#polling !== null) {
      this.#checkAgain = true;
      return;
    }
    this.#cancelTick();
    this.#polling = this.#poll().then((restMs) => {
      this.#polling = null;
      if (this.#checkAgain) {
        this.#checkAgain = false;
        this.wake();
      } else if (!this.#end.signal.aborted) {
        this.#cancelTick = this.#dependencies.clock.after(restMs, () => this.wake());
      }
    });
  }

  /** Aborts running work, which stays due. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#cancelTick();
    await this.#polling;
    await Promise.all(this.#active);
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
        observer.log("warn", "Failed to process an asset; it is retried when its lease ends.", {
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
