import type {
  GuardrailCheckEntry,
  GuardrailHour,
  Intent,
  LedgerEntry,
  NanoUsd,
  Outcome,
  PriceVersion,
  UpstreamObject,
  UpstreamObjectKind,
} from "#core/index.ts";

export interface LedgerFilter {
  readonly workspaceId?: string;
  readonly groupId?: string;
  readonly keyId?: string;
  readonly personId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly outcome?: Outcome;
  readonly requestId?: string;
  /** Unix milliseconds, from inclusive, to exclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** Newest first. `next`: cursor of the following page; null at the end. */
export interface LedgerPage {
  readonly entries: readonly LedgerEntry[];
  readonly next: string | null;
}

/** One key's usage in one second. */
export interface RecentRow extends Pick<Intent, "workspaceId" | "groupId" | "keyId" | "personId"> {
  /** Start of the second in which these calls began, Unix milliseconds. */
  readonly at: number;
  /** A request counts once, however many attempts it had. */
  readonly requests: number;
  readonly tokens: number;
}

export interface UsageSum {
  /** The model, or the value of the tag that the sums are grouped by; empty: calls without the tag. */
  readonly model: string;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: NanoUsd;
  /** Cost reported by vendors, and cost of the same calls by our prices. 0: none reported a cost. */
  readonly vendorCostNanoUsd: NanoUsd;
  readonly comparedCostNanoUsd: NanoUsd;
}

/** The owner who is charged for usage, with the tags of the calls. */
export type UsageOwner = Pick<Intent, "workspaceId" | "groupId" | "keyId" | "personId" | "tags">;

export interface UsageShare extends UsageOwner {
  readonly model: string;
  readonly attempts: number;
  readonly costNanoUsd: NanoUsd;
}

/** A problem that `check` found. `detail` names the rows. */
export interface LedgerFault {
  readonly rule: string;
  readonly detail: string;
}

export interface LedgerCheck {
  /** Entries and their cost; nano-USD as text because the sum may exceed 2^53. */
  readonly entries: number;
  readonly costNanoUsd: string;
  readonly faults: readonly LedgerFault[];
}

export interface LedgerStore {
  /** Idempotent by attempt id. Writes upstream objects and all sums in the same transaction. Resolves to the number of new entries. */
  insert(entries: readonly LedgerEntry[]): Promise<number>;
  /** Stores checks of guardrails. Idempotent by id. */
  insertChecks(checks: readonly GuardrailCheckEntry[]): Promise<void>;
  /** Stores numbers of checks. A number replaces a smaller one of the same hour and process. */
  countChecks(hours: readonly GuardrailHour[]): Promise<void>;
  page(filter: LedgerFilter, cursor: string | null, limit: number): Promise<LedgerPage>;
  /** Calls that ended in a period, without refused ones, to rebuild rate windows after a restart. */
  recent(sinceMs: number, untilMs: number): Promise<readonly RecentRow[]>;
  usage(filter: LedgerFilter): Promise<readonly UsageSum[]>;
  /**
   * Owners who used models of a provider in whole hours, without adjustments. From rollups, which outlive entries. Ordered by workspace, group,
   * key, person, tags and model.
   */
  shares(
    filter: Required<Pick<LedgerFilter, "provider" | "from" | "to">> & { readonly models: readonly string[] },
  ): Promise<readonly UsageShare[]>;
  /** Price versions by id, for recovery and recomputation. */
  price(versionId: string): Promise<PriceVersion | null>;
  /** Checks the rules that only the database can check. */
  check(): Promise<LedgerCheck>;
  /**
   * PostgreSQL: merges sums that inserts deferred. Resolves to the number merged, at most `rowsMax`; 0: none left. Concurrent calls
   * take different rows, and each is atomic. Reports are the same before and after.
   */
  fold(rowsMax?: number): Promise<number>;
  /**
   * Sums one day (UTC) that is over or has changed, so that reports read fewer rows. `now`: Unix milliseconds. Resolves to 0 if there is
   * none. Reports are the same before and after.
   */
  sumDay(now: number): Promise<number>;
  /** The same for the hours of one day that are over or have changed. Resolves to the number of hours. */
  sumHours(now: number): Promise<number>;
  /** PostgreSQL: creates the next monthly partitions. Resolves to how many. */
  createPartitions(now: number): Promise<number>;
  /** Removes entries and checks older than `beforeMs` but not their sums. Resolves to the number removed. */
  prune(beforeMs: number): Promise<number>;
}

export interface UpstreamObjectQuery {
  readonly kind: UpstreamObjectKind;
  readonly providers: readonly string[];
  readonly now: number;
  /** Objects after this one in the order of the list; null: from its beginning. */
  readonly after: Pick<UpstreamObject, "createdAt" | "id"> | null;
  readonly limit: number;
  readonly isOldestFirst: boolean;
}

/** The objects of several kinds; `visiblePerson`: only objects of this person and objects without a person. */
interface NewestObjectsQuery {
  readonly kinds: readonly UpstreamObjectKind[];
  readonly now: number;
  readonly limit: number;
  readonly keyId?: string;
  readonly visiblePerson?: string;
}

interface EverywhereQuery {
  readonly now: number;
  /** The last object of the page before; null: from the beginning. */
  readonly after: Pick<UpstreamObject, "workspaceId" | "id"> | null;
  readonly limit: number;
}

/** Objects that vendors keep for later calls. Most are written by `LedgerStore.insert`. */
export interface UpstreamObjectStore {
  /** Objects of the workspace with these ids, in any order, possibly expired. */
  find(workspaceId: string, ids: readonly string[]): Promise<readonly UpstreamObject[]>;
  /** Objects of the workspace that have not expired at `now`, by their time of record and then by id. */
  list(workspaceId: string, query: UpstreamObjectQuery): Promise<readonly UpstreamObject[]>;
  /** Objects that have not expired, newest first. The kinds `conversation`, `container`, `skill` and `vector_store` have an index. */
  newest(workspaceId: string, query: NewestObjectsQuery): Promise<readonly UpstreamObject[]>;
  /** Objects of all workspaces that have not expired at `now`, by workspace and id. Only for the kinds with an index. */
  everywhere(kind: UpstreamObject["kind"], query: EverywhereQuery): Promise<readonly UpstreamObject[]>;
  /** Writes an object without an entry. Does nothing if a newer record exists. */
  put(object: UpstreamObject): Promise<void>;
  /** Removes objects that expired before `now` (Unix milliseconds) in batches. Resolves to the number removed. */
  prune(now: number): Promise<number>;
}
