import { BoundedMap, bounds, type CallSignal, type Model, sleep, TenantMap, type UpstreamObject } from "#core/index.ts";
import type { Clock, UpstreamObjectStore } from "#ports/index.ts";

export interface UpstreamObjectsOptions {
  readonly objectStore: Pick<UpstreamObjectStore, "find" | "put">;
  readonly clock: Pick<Clock, "after" | "now" | "monotonic">;
  /** Other processes write their objects into the same database. */
  readonly sharesLedger?: boolean;
}

/** What a call continues or names of the state that vendors keep. */
export interface KeptState {
  /** Objects that the call's workspace made, by id. */
  readonly found: ReadonlyMap<string, UpstreamObject>;
  /** The account that has them: the call goes there and nowhere else. null: none of them is known. */
  readonly provider: string | null;
  /** The models that may serve the call. */
  readonly models: readonly Model[];
}

/**
 * The objects that vendors keep for a workspace. Those that were made or used here lately are in memory, because the database
 * learns of one only when the journal drains; the others are read from the database.
 */
export class UpstreamObjects {
  readonly #options: UpstreamObjectsOptions;
  readonly #memory = new TenantMap<UpstreamObject>(bounds.upstreamObjectsMax);
  /** Ids that were waited for in vain: nobody who asks again waits again. */
  readonly #missing: BoundedMap<string, true>;

  constructor(options: UpstreamObjectsOptions) {
    this.#options = options;
    const life = { clock: options.clock, ms: bounds.objectMissingMs };
    this.#missing = new BoundedMap(bounds.upstreamObjectsMax, { life });
  }

  remember(object: UpstreamObject): void {
    this.#memory.set(object.workspaceId, object.id, object);
  }

  /** It was deleted at its vendor. The journal may still hold older records of it, which change nothing then. */
  end(object: UpstreamObject): Promise<void> {
    const now = this.#options.clock.now();
    const ended = { ...object, expiresAt: now, createdAt: Math.max(now, object.createdAt) };
    this.remember(ended);
    return this.#options.objectStore.put(ended);
  }

  /**
   * Those of these ids that the workspace made and that have not expired. `waits`: an object that another process has just made is
   * waited for until its journal has drained.
   */
  async find(
    workspaceId: string,
    ids: readonly string[],
    { waits, signal }: { readonly waits: boolean; readonly signal: CallSignal },
  ): Promise<ReadonlyMap<string, UpstreamObject>> {
    const { objectStore, clock, sharesLedger } = this.#options;
    const found = new Map<string, UpstreamObject>();
    let missing: string[] = [];
    for (const id of new Set(ids)) {
      const object = this.#memory.get(workspaceId, id);
      if (object === undefined) missing.push(id);
      else found.set(id, object);
    }
    for (let waitMs: number = bounds.objectWaitMs; missing.length > 0; waitMs *= 2) {
      for (const object of await objectStore.find(workspaceId, missing)) {
        this.remember(object);
        found.set(object.id, object);
      }
      missing = missing.filter((id) => !found.has(id));
      if (!waits || sharesLedger !== true || missing.every((id) => this.#missing.has(`${workspaceId}\n${id}`))) break;
      if (waitMs > bounds.objectWaitMsMax) {
        for (const id of missing) this.#missing.set(`${workspaceId}\n${id}`, true);
        break;
      }
      await sleep(clock, waitMs, signal);
      if (signal.aborted) break;
    }
    const now = clock.now();
    for (const [id, { expiresAt }] of found) if (expiresAt !== null && expiresAt <= now) found.delete(id);
    return found;
  }
}
