import type { Intent, LedgerEntry, NanoUsd, Outcome, PriceVersion, UpstreamObject } from "#core/index.ts";

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

/** Newest first; `next` is the cursor of the following page, null at the end. */
export interface LedgerPage {
  readonly entries: readonly LedgerEntry[];
  readonly next: string | null;
}

/** What one key did in one second, with its group, its person and its workspace. */
export interface RecentRow extends Pick<Intent, "workspaceId" | "groupId" | "keyId" | "personId"> {
  /** The start of the second in which these calls began, in Unix milliseconds. */
  readonly at: number;
  /** A request counts once, however many attempts it took. */
  readonly requests: number;
  readonly tokens: number;
}

export interface UsageSum {
  readonly model: string;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: NanoUsd;
  /** What vendors reported for their calls, and what these calls cost by our prices. 0: none reported a cost. */
  readonly vendorCostNanoUsd: NanoUsd;
  readonly comparedCostNanoUsd: NanoUsd;
}

/** One fault that `check` found, in words that name the rows. */
export interface LedgerFault {
  readonly rule: string;
  readonly detail: string;
}

export interface LedgerCheck {
  /** Entries in the database and their cost, nano-USD as text because the sum may exceed what a number holds. */
  readonly entries: number;
  readonly costNanoUsd: string;
  readonly faults: readonly LedgerFault[];
}

export interface LedgerStore {
  /** Idempotent by attempt id, with the objects that upstreams keep because of them; every sum knows what was new at the same moment. Resolves to the number of new entries. */
  insert(entries: readonly LedgerEntry[]): Promise<number>;
  page(filter: LedgerFilter, cursor: string | null, limit: number): Promise<LedgerPage>;
  /** What ended in a period, to rebuild rate windows after a restart. Refused calls used nothing and are left out. */
  recent(sinceMs: number, untilMs: number): Promise<readonly RecentRow[]>;
  usage(filter: LedgerFilter): Promise<readonly UsageSum[]>;
  /** Price versions by id, for recovery and re-computation. */
  price(versionId: string): Promise<PriceVersion | null>;
  /** Checks the rules that the database alone can check; the ledger module lists them. */
  check(): Promise<LedgerCheck>;
  /**
   * Where inserts leave their sums for later, adds some of them up, so that there are fewer rows to read; what is read is the same
   * before and after. Resolves to how many it took, at most `rowsMax`: 0, none are left. Several at once take different ones;
   * one that is ended at any point has done all or nothing.
   */
  fold(rowsMax?: number): Promise<number>;
  /**
   * Adds up the sums of one day (UTC) that is over, or that has changed since, so that reports of whole days read fewer rows; what is
   * read is the same before and after. `now` in Unix milliseconds. Resolves to 0 when there is none.
   */
  sumDay(now: number): Promise<number>;
  /** Where the ledger is kept by months, makes those that come next. Resolves to how many it made. */
  makeMonths(now: number): Promise<number>;
  /** Removes entries older than `beforeMs`. Rollups stay. Resolves to the number of removed entries. */
  prune(beforeMs: number): Promise<number>;
}

/** Objects that vendors keep for later calls. Most are written by the ledger's `insert`, with the entries that name them. */
export interface UpstreamObjectStore {
  /** Those of these ids that belong to the workspace, in any order. An expired one may be among them until it is pruned. */
  find(workspaceId: string, ids: readonly string[]): Promise<readonly UpstreamObject[]>;
  /** Writes one that no entry names, as it is since `createdAt`. Changes nothing where a newer record is there. */
  put(object: UpstreamObject): Promise<void>;
  /** Removes what expired before `now` (Unix milliseconds), in bounded batches. Resolves to how many were removed. */
  prune(now: number): Promise<number>;
}
