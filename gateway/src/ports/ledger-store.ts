import type { LedgerEntry, NanoUsd, Outcome, PriceVersion } from "#core/index.ts";

export interface LedgerFilter {
  readonly workspaceId?: string;
  readonly groupId?: string;
  readonly keyId?: string;
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

/** What one key did in one second, with its group and workspace. */
export interface RecentRow {
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  /** When these calls began: Unix milliseconds of a whole second. */
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
}

/** One broken promise found by `check`, in words that name the rows. */
export interface LedgerFault {
  readonly rule: string;
  readonly detail: string;
}

export interface LedgerCheck {
  readonly entries: number;
  readonly costNanoUsd: string;
  readonly faults: readonly LedgerFault[];
}

/** The account, and the model through it, that keeps an answer under an id of its own. */
export interface ResponseOwner {
  readonly provider: string;
  readonly deployment: string;
  readonly model: string;
  readonly upstreamModel: string;
  /** Its usage is in the ledger. False for one that is still being made in the background. */
  readonly paid: boolean;
}

export interface LedgerStore {
  /** Idempotent by attempt id; rollups move with the rows in the same transaction. Resolves to how many were new. */
  insert(entries: readonly LedgerEntry[]): Promise<number>;
  page(filter: LedgerFilter, cursor: string | null, limit: number): Promise<LedgerPage>;
  /** What ended in a time, to rebuild rate windows after a restart. A refused call took nothing, so it is not in it. */
  recent(sinceMs: number, untilMs: number): Promise<readonly RecentRow[]>;
  usage(filter: LedgerFilter): Promise<readonly UsageSum[]>;
  /** Price versions by id, for recovery and re-computation. */
  price(versionId: string): Promise<PriceVersion | null>;
  /** Who keeps the answer with this id of the upstream's, as far as this workspace made it. */
  responseOwner(workspaceId: string, upstreamId: string): Promise<ResponseOwner | null>;
  /** Checks what can be checked inside the database: see the ledger module for the rules. */
  check(): Promise<LedgerCheck>;
  /** Removes entries older than `beforeMs`; rollups stay. Resolves to how many went. */
  prune(beforeMs: number): Promise<number>;
}
