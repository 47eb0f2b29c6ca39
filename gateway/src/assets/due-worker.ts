import { type Asset, LastingFault } from "#core/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";

/** How long one pass owns an asset: longer than the fetch and what follows it. */
export const assetLeaseMs = 180_000;
/** Assets that one process works on at once, and the shortest and longest wait before it looks for due ones. */
export const assetsAtOnceMax = 8;
export const assetTickMs = 2_000;
const assetRestMs = 15_000;

type Dependencies = Pick<AssetsDependencies, "store" | "clock" | "observer">;

/** Never throws for what may happen; `leaseUntil` is the due time that the row has while the pass owns it. */
type Work = (asset: Asset, leaseUntil: number, signal: AbortSignal) => Promise<void>;

/**
 * Takes due assets under leases, a bounded number at once. Several processes may do so over one store. With nothing under way it rests
 * until an asset is due; those of other processes are met by asking now and then.
 */
export class DueWorker {
  readonly #dependencies: Dependencies;
  readonly #work: Work;
  readonly #active = new Set<Promise<void>>();
  readonly #end = new AbortController();
  #untick = (): void => {};
  #started = false;
  /** A look for due assets is under way, and whether another is to follow it. */
  #polling: Promise<void> | null = null;
  #again = false;
  readonly #unread: LastingFault;

  constructor(dependencies: Dependencies, work: Work) {
    this.#dependencies = dependencies;
    this.#work = work;
    const { clock, observer } = dependencies;
    const fault = "Due assets could not be read; it is tried again.";
    this.#unread = new LastingFault({ clock, observer, level: "warn", fault, over: "Due assets are read again." });
  }

  start(): void {
    if (this.#started || this.#end.signal.aborted) return;
    this.#started = true;
    this.nudge();
  }

  /** There may be something to do now. */
  nudge(): void {
    if (!this.#started || this.#end.signal.aborted) return;
    if (this.#polling !== null) {
      this.#again = true;
      return;
    }
    this.#untick();
    this.#polling = this.#poll().then((restMs) => {
      this.#polling = null;
      if (this.#again) {
        this.#again = false;
        this.nudge();
      } else if (!this.#end.signal.aborted) {
        this.#untick = this.#dependencies.clock.after(restMs, () => this.nudge());
      }
    });
  }

  /** Ends what is under way; it stays due. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#untick();
    await this.#polling;
    await Promise.all(this.#active);
  }

  /** Resolves to how long to rest. Never rejects. */
  async #poll(): Promise<number> {
    const { store, clock } = this.#dependencies;
    const free = assetsAtOnceMax - this.#active.size;
    if (free <= 0) return assetTickMs;
    const now = clock.now();
    try {
      let next = this.#active.size > 0 ? now : await store.nextDueAsset();
      // Taking writes even where there is nothing: it is left out while nothing is due.
      if (next !== null && next <= now) {
        const due = await store.dueAssets(now, assetLeaseMs, free);
        for (const asset of due) this.#take(asset, now + assetLeaseMs);
        if (this.#active.size === 0) next = await store.nextDueAsset();
      }
      this.#unread.passed();
      // One that is due sooner than a tick waits for it, as it does while others are worked on.
      return Math.min(Math.max((next ?? Number.POSITIVE_INFINITY) - now, assetTickMs), assetRestMs);
    } catch (thrown) {
      this.#unread.failed({ error: thrown });
      return assetTickMs;
    }
  }

  #take(asset: Asset, leaseUntil: number): void {
    const { observer } = this.#dependencies;
    const pass = this.#work(asset, leaseUntil, this.#end.signal)
      .catch((thrown: unknown) => {
        observer.log("warn", "Work on an asset broke off; it is taken up again when its lease ends.", {
          asset: asset.id,
          error: thrown,
        });
      })
      .finally(() => {
        this.#active.delete(pass);
        this.nudge();
      });
    this.#active.add(pass);
  }
}
