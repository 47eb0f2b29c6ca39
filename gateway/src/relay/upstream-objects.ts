import {
  BoundedMap,
  bounds,
  type CallSignal,
  type Model,
  renewedUpstreamModel,
  sleep,
  TenantMap,
  type UpstreamObject,
} from "#core/index.ts";
import type { Clock, UpstreamObjectQuery, UpstreamObjectStore } from "#ports/index.ts";

export interface UpstreamObjectsOptions {
  readonly objectStore: Pick<UpstreamObjectStore, "find" | "list" | "put">;
  readonly clock: Pick<Clock, "after" | "now" | "monotonic">;
  /** Other processes write their objects into the same database. */
  readonly sharesLedger?: boolean;
}

/** State at vendors that a call continues or names. */
export interface KeptState {
  /** Objects that the call's workspace made, by id. */
  readonly found: ReadonlyMap<string, UpstreamObject>;
  /** The only account that the call may go to. null: no object was found. */
  readonly provider: string | null;
  /** The models that may serve the call. */
  readonly models: readonly Model[];
}

/** Objects that vendors store for a workspace: recent ones in memory, because the journal may not have drained, others in the database. */
export class UpstreamObjects {
  readonly #options: UpstreamObjectsOptions;
  readonly #memory = new TenantMap<UpstreamObject>(bounds.upstreamObjectsMax);
  /** Ids that were not found after a wait. */
  readonly #missing: BoundedMap<string, true>;

  constructor(options: UpstreamObjectsOptions) {
    this.#options = options;
    const life = { clock: options.clock, ms: bounds.objectMissingMs };
    this.#missing = new BoundedMap(bounds.upstreamObjectsMax, { life });
  }

  /** A later record of an object repeats neither its masked values nor a container's memory. */
  remember(object: UpstreamObject): void {
    const { workspaceId, id } = object;
    const before = this.#memory.get(workspaceId, id);
    const masked = object.masked ?? before?.masked;
    const upstreamModel = renewedUpstreamModel(before?.upstreamModel ?? "", object);
    this.#memory.set(workspaceId, id, { ...object, upstreamModel, ...(masked != null && { masked }) });
  }

  /** It was deleted at its vendor. Older records in the journal change nothing after this. */
  end(object: UpstreamObject): Promise<void> {
    const now = this.#options.clock.now();
    const ended = { ...object, expiresAt: now, createdAt: Math.max(now, object.createdAt) };
    this.remember(ended);
    return this.#options.objectStore.put(ended);
  }

  /** Returns the workspace's objects that have not expired. `waits`: other processes may still have records in their journals. */
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

  /** A page of the workspace's objects. Records of other processes may be missing until their journals are drained. */
  async list(workspaceId: string, query: Omit<UpstreamObjectQuery, "now">): Promise<readonly UpstreamObject[]> {
    const { objectStore, clock } = this.#options;
    const { kind, providers, after, limit, isOldestFirst } = query;
    const now = clock.now();
    const stored = await objectStore.list(workspaceId, { ...query, now });
    const found = new Map(stored.map((object) => [object.id, object]));
    for (const object of this.#memory.valuesOf(workspaceId)) {
      if (object.kind === kind && providers.includes(object.provider)) found.set(object.id, object);
    }
    const compare = (one: Place, other: Place): number => {
      const order = one.createdAt - other.createdAt || (one.id < other.id ? -1 : one.id === other.id ? 0 : 1);
      return isOldestFirst ? order : -order;
    };
    return [...found.values()]
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      .filter((object) => after === null || compare(object, after) > 0)
      .toSorted(compare)
      .slice(0, limit);
  }
}

type Place = Pick<UpstreamObject, "createdAt" | "id">;
