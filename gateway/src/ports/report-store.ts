import type {
  AttemptDetail,
  AuditRow,
  CaptureDetail,
  ConsoleKey,
  Explanation,
  Person,
  RequestRow,
  UsageFigures,
} from "@sluice/contract/console";
import type { PeopleSort, UsageDimension } from "@sluice/contract/words";
import type { Intent, NanoUsd, ScopeKind } from "#core/index.ts";
import type { Paged } from "./audit.ts";
import type { UsageSum } from "./ledger-store.ts";

/** Whose calls, and which. `workspaceId` null: every workspace. */
interface CallFilter {
  readonly workspaceId: string | null;
  readonly model?: string;
  readonly provider?: string;
  readonly keyId?: string;
  readonly groupId?: string;
  readonly personId?: string;
  /** Who alone, of all people, is shown, and whose keys; what is no one person's is shown too. Sums over several people are as they are. */
  readonly seenPerson?: string;
}

/** Unix milliseconds; `to` is excluded. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export interface RequestFilter extends CallFilter, Partial<Span> {
  readonly search?: string;
  readonly endpoint?: string;
  readonly outcome?: string;
  readonly status?: number;
  readonly errorCode?: string;
  readonly minMs?: number;
}

export interface UsageFilter extends CallFilter, Span {
  readonly stepMs: number;
  readonly by: UsageDimension;
}

/** `workspaceId` null: all. */
export interface CostFilter extends Span {
  readonly workspaceId: string | null;
}

/** Times are widened to whole hours. `search`: a part of an address or a name. */
export interface PeopleUsageFilter extends CostFilter {
  readonly search?: string;
  readonly sort: PeopleSort;
}

export interface SessionFilter extends CostFilter {
  readonly keyId?: string;
}

export interface UsageSums {
  readonly requests: number;
  readonly failedRequests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** `person` null: keys of no one person. */
export interface PersonUsage extends UsageSums {
  readonly person: Person | null;
}

export interface PeopleUsage extends Paged<PersonUsage> {
  readonly from: number;
  readonly to: number;
  /** How many people there are, on all pages. */
  readonly people: number;
  /** Of everybody, whatever is searched for. */
  readonly totals: UsageSums;
}

/** One day's spend of a person in a workspace. `day`: the Unix milliseconds of its start in UTC. */
export interface PersonDaySpend {
  readonly workspaceId: string;
  readonly personId: string;
  readonly day: number;
  readonly usd: number;
}

/** One line of a chart. `at`: the beginnings of the steps that have data. `label`: the name behind the id. */
export interface UsageLine {
  readonly id: string;
  readonly label: string;
  readonly totals: UsageFigures;
  readonly points: readonly { readonly at: number; readonly figures: UsageFigures }[];
}

export interface UsageReading {
  /** As asked, or an hour. For long or busy periods only hours are known, so shorter steps become hours. */
  readonly stepMs: number;
  readonly totals: UsageFigures;
  readonly previous: UsageFigures;
  /** The most expensive ones first, at most nine. One with an empty id follows for the rest. */
  readonly lines: readonly UsageLine[];
}

/** What the calls of one model at one provider cost. */
export interface CostSum extends Pick<UsageFigures, "attempts" | "cost_usd" | "vendor_cost_usd" | "own_cost_usd"> {
  readonly provider: string;
  readonly model: string;
}

/** What the calls of one session used. */
export interface SessionUsage {
  readonly session: string;
  /** When its last call began, Unix milliseconds. */
  readonly lastAt: number;
  readonly requests: number;
  readonly inputTokens: number;
  /** Part of the input. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export interface SessionReading {
  /** The latest first. */
  readonly data: readonly SessionUsage[];
  /** There are more sessions or more entries than were read. */
  readonly truncated: boolean;
}

export interface KeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly groupId?: string;
  readonly state?: string;
  readonly createdBy?: string;
  /** Whose calls they make, with a secret or as their agents. */
  readonly ownerId?: string;
  readonly service?: boolean;
  readonly keyId?: string;
  readonly now: number;
}

export interface AuditFilter extends Partial<Span> {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly action?: string;
}

/** The usage of one model, summed by class (the names of `Usage`). For simulating a price. */
export interface ModelUsage {
  readonly model: string;
  readonly requests: number;
  readonly costUsd: number;
  readonly usage: Readonly<Record<string, number>>;
}

/** A budget's scope and period. `from` and `to` are whole hours in Unix milliseconds; `to` null: no end. */
export interface SpendingAsk {
  readonly kind: ScopeKind;
  readonly id: string;
  readonly from: number;
  readonly to: number | null;
}

export interface RecentCost
  extends Pick<Intent, "attemptId" | "at" | "workspaceId" | "groupId" | "keyId" | "personId"> {
  readonly costNanoUsd: NanoUsd;
}

export interface SpendingReading {
  /** In the order they were asked. `later`: what bears a time behind the period. */
  readonly spent: readonly { readonly amount: NanoUsd; readonly later: NanoUsd }[];
  readonly recent: readonly RecentCost[];
}

/**
 * What the console reads of the ledger and the audit log. It is read in a thread, over a connection that cannot write, so a
 * long search delays no call. Every call has a time limit (`bounds.reportMs`) and rejects with `request_timeout` after it.
 */
export interface ReportStore {
  /**
   * Newest first. A page may be shorter than `limit`, or empty, and still have a next one: a search ends its page after
   * `reportScanMs`.
   */
  requests(filter: RequestFilter, cursor: string | null, limit: number): Promise<Paged<RequestRow>>;
  /** The attempts of a request in the order they were made; empty when there is none in that workspace. */
  attempts(workspaceId: string | null, requestId: string): Promise<readonly AttemptDetail[]>;
  /** Percentiles are exact to 2 % (`latency-sketch.ts`). */
  usage(filter: UsageFilter): Promise<UsageReading>;
  /** Everybody who called, and what keys of no one person did, in any order. */
  peopleUsage(filter: PeopleUsageFilter, cursor: string | null, limit: number): Promise<PeopleUsage>;
  /** By the tag `session`, within `sessionEntriesMax` entries. */
  sessions(filter: SessionFilter): Promise<SessionReading>;
  /** By provider and model, the dearest first; at most `bounds.reportRowsMax`. Times are widened to whole hours. */
  costs(filter: CostFilter): Promise<readonly CostSum[]>;
  /** By name. */
  keys(filter: KeyFilter, cursor: string | null, limit: number): Promise<Paged<ConsoleKey>>;
  /** Newest first. Pages may be short, as those of requests. */
  audit(filter: AuditFilter, cursor: string | null, limit: number): Promise<Paged<AuditRow>>;
  /** By model. `model` null: all models. */
  modelUsage(model: string | null, from: number, to: number): Promise<readonly ModelUsage[]>;
  /** Attempts and failures of each deployment since a time, from the ledger. */
  deploymentUse(since: number): Promise<
    readonly {
      readonly deployment: string;
      readonly provider: string;
      readonly attempts: number;
      readonly failed: number;
    }[]
  >;
  /**
   * Spend in USD by scope and day since a time. A day is the Unix milliseconds of its start in UTC. Keys without their own
   * budget are summed under an empty id, to keep the rows few. `keyId`: only this key, with or without a budget.
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
  /** The same of people, by the ids of their scopes (`personScopeId`). */
  personDailySpend(scopeIds: readonly string[], since: number): Promise<readonly PersonDaySpend[]>;
  /**
   * What scopes have spent, and their entries that ended since `endedSince`, both read at one moment. The entries tell
   * which costs were counted elsewhere in the meantime. At most bounds.budgetReadEntriesMax + 1 entries.
   */
  spending(asks: readonly SpendingAsk[], endedSince: number): Promise<SpendingReading>;
  /** What one key has used, by model. Times in Unix milliseconds, `to` excluded. */
  keyUsage(keyId: string, from: number, to: number): Promise<readonly UsageSum[]>;
  /** `entries` may be wrong by the entries of one hour, the last from which old entries were removed. */
  facts(): Promise<{ readonly entries: number; readonly sizeBytes: number | null }>;
  /** Copies the whole database into a file. `done` removes the file. */
  backup(): Promise<{
    readonly bytes: ReadableStream<Uint8Array>;
    readonly size: number;
    readonly done: () => Promise<void>;
  }>;
  close(): Promise<void>;
}

/** Reads the stored explanations and captured requests. */
export interface ExplainStore {
  explanation(requestId: string): Promise<Explanation | null>;
  capture(requestId: string): Promise<CaptureDetail | null>;
}
