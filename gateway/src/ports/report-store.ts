import type {
  AttemptDetail,
  AuditRow,
  CaptureDetail,
  ConsoleKey,
  Explanation,
  RequestRow,
  UsageFigures,
} from "@sluice/contract/console";
import type { UsageDimension } from "@sluice/contract/words";
import type { NanoUsd, ScopeKind } from "#core/index.ts";
import type { UsageSum } from "./ledger-store.ts";
import type { Paged } from "./people-store.ts";

/** Which requests. Times are Unix milliseconds, from inclusive, to exclusive. `workspaceId` null: of every workspace. */
export interface RequestFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly keyId?: string;
  readonly groupId?: string;
  readonly endpoint?: string;
  readonly outcome?: string;
  readonly status?: number;
  readonly errorCode?: string;
  readonly minMs?: number;
  readonly from?: number;
  readonly to?: number;
}

export interface UsageFilter {
  readonly workspaceId: string | null;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly by: UsageDimension;
  readonly model?: string;
  readonly provider?: string;
  readonly keyId?: string;
  readonly groupId?: string;
}

/** One line of a chart; `at` are the beginnings of its steps that hold anything. `label` is the name behind the id. */
export interface UsageLine {
  readonly id: string;
  readonly label: string;
  readonly totals: UsageFigures;
  readonly points: readonly { readonly at: number; readonly figures: UsageFigures }[];
}

export interface UsageReading {
  /** As asked, or an hour: of a busy or long past time less than hours is not known, and it is widened to hours. */
  readonly stepMs: number;
  readonly totals: UsageFigures;
  readonly previous: UsageFigures;
  /** Most expensive first, at most nine, then one with an empty id for the rest. */
  readonly lines: readonly UsageLine[];
}

export interface KeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly groupId?: string;
  readonly state?: string;
  readonly createdBy?: string;
  readonly keyId?: string;
  readonly now: number;
}

export interface AuditFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly action?: string;
  readonly from?: number;
  readonly to?: number;
}

/** Sums of one model's usage by class, in the names of `Usage`, for a price to be tried on. */
export interface ModelUsage {
  readonly model: string;
  readonly requests: number;
  readonly costUsd: number;
  readonly usage: Readonly<Record<string, number>>;
}

/**
 * What the console reads. It is answered beside the event loop that carries calls, from a connection of its own that
 * cannot write, so that a long search delays nobody. Every call has a bound on its time (`bounds.reportMs`) and rejects
 * with `request_timeout` beyond it.
 */
/** One budget's scope and period, from whole hour to whole hour (Unix milliseconds); `to` null: without an end. */
export interface SpendingAsk {
  readonly kind: ScopeKind;
  readonly id: string;
  readonly from: number;
  readonly to: number | null;
}

export interface RecentCost {
  readonly attemptId: string;
  readonly at: number;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly costNanoUsd: NanoUsd;
}

export interface SpendingReading {
  /** In the order they were asked. `later`: what bears a time behind the period. */
  readonly spent: readonly { readonly amount: NanoUsd; readonly later: NanoUsd }[];
  readonly recent: readonly RecentCost[];
}

export interface ReportStore {
  /**
   * Newest first. A page may be shorter than `limit`, even empty, and still have a next one: a search for what is rare ends
   * its page when it has looked for `bounds.reportScanMs`.
   */
  requests(filter: RequestFilter, cursor: string | null, limit: number): Promise<Paged<RequestRow>>;
  /** The attempts of a request in the order they were made; empty when there is none in that workspace. */
  attempts(workspaceId: string | null, requestId: string): Promise<readonly AttemptDetail[]>;
  /** Percentiles are within 2 % of the true ones but for hours of early versions, which are marked: see `latency-sketch.ts`. */
  usage(filter: UsageFilter): Promise<UsageReading>;
  /** By name. */
  keys(filter: KeyFilter, cursor: string | null, limit: number): Promise<Paged<ConsoleKey>>;
  /** Newest first; pages may be short like those of requests. */
  audit(filter: AuditFilter, cursor: string | null, limit: number): Promise<Paged<AuditRow>>;
  /** By model; `model` null: all. */
  modelUsage(model: string | null, from: number, to: number): Promise<readonly ModelUsage[]>;
  /** Attempts and failures by deployment since a time, from the ledger. */
  deploymentUse(since: number): Promise<
    readonly {
      readonly deployment: string;
      readonly provider: string;
      readonly attempts: number;
      readonly failed: number;
    }[]
  >;
  /**
   * Spend in USD by scope and day (Unix milliseconds of its start, UTC) since a time. Keys without a budget of their own
   * are put together under an empty id, so that the rows stay few; `keyId`: of one key alone, whatever it has.
   */
  dailySpend(
    workspaceId: string | null,
    since: number,
    keyId?: string,
  ): Promise<
    readonly {
      readonly workspaceId: string;
      readonly groupId: string;
      readonly keyId: string;
      readonly day: number;
      readonly usd: number;
    }[]
  >;
  /**
   * What scopes have spent, and beside it, of one moment, the entries of theirs that ended since `endedSince`, so that what
   * was counted elsewhere meanwhile can be told apart. At most bounds.budgetReadEntriesMax + 1 of them.
   */
  spending(asks: readonly SpendingAsk[], endedSince: number): Promise<SpendingReading>;
  /** What one key has used, by model. Times in Unix milliseconds, `to` excluded. */
  keyUsage(keyId: string, from: number, to: number): Promise<readonly UsageSum[]>;
  /** `entries` is right to those of the hour up to which old ones have been removed. */
  facts(): Promise<{ readonly entries: number; readonly sizeBytes: number | null }>;
  /** A whole copy of the database in a file of its own, which `done` removes. */
  backup(): Promise<{
    readonly bytes: ReadableStream<Uint8Array>;
    readonly size: number;
    readonly done: () => Promise<void>;
  }>;
  close(): Promise<void>;
}

/** What is kept of how a request went, beside its ledger entries. Reading is rare; writing never delays a call. */
export interface ExplainStore {
  explanation(requestId: string): Promise<Explanation | null>;
  capture(requestId: string): Promise<CaptureDetail | null>;
}
