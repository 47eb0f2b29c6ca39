import type {
  AnswerOf,
  AttemptDetail,
  AuditRow,
  CaptureDetail,
  ConsoleKey,
  Explanation,
  GuardrailCheckRow,
  GuardrailFindings,
  RequestRow,
  RequestSession,
  RequestTotals,
  SessionRequest,
  UsageFigures,
} from "@sluice/contract/console";
import type {
  FindingsDimension,
  KeySort,
  RequestSort,
  SessionSort,
  UsageDimension,
  UsageSort,
} from "@sluice/contract/words";
import type {
  AdjustmentReason,
  Intent,
  NanoUsd,
  PolicyCounter,
  PriceTable,
  ScopeKind,
  TaskState,
  Usage,
} from "#core/index.ts";
import type { Paged } from "./audit.ts";
import type { UsageSum } from "./ledger-store.ts";

/** `workspaceId` null: every workspace. */
interface CallFilter {
  readonly workspaceId: string | null;
  readonly model?: string;
  readonly provider?: string;
  readonly keyId?: string;
  readonly groupId?: string;
  readonly personId?: string;
  /** Show only this person and their keys, and what belongs to no single person. Does not affect sums. */
  readonly visiblePerson?: string | undefined;
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
  readonly minCostUsd?: number;
  readonly maxCostUsd?: number;
  /** `value` undefined: any. */
  readonly tag?: { readonly name: string; readonly value?: string | undefined };
  /** Part of it, in any case. */
  readonly userAgent?: string;
  /** A guardrail that found something or failed. `any`: any guardrail. */
  readonly guardrailId?: string;
  /** The verdict of such a check. */
  readonly guardrailVerdict?: string;
  /** A limit or a guardrail in shadow mode would have refused it. */
  readonly wouldRefuse?: true;
}

/** Checks of guardrails. As in `CallFilter`, `visiblePerson` hides other people's. */
export interface GuardrailCheckFilter
  extends Pick<CallFilter, "workspaceId" | "keyId" | "personId" | "visiblePerson" | "model">,
    Span {
  readonly guardrailId?: string;
  readonly type?: string;
  readonly side?: string;
  readonly verdict?: string;
  readonly enforced?: boolean;
}

export interface RequestPage extends Paged<RequestRow> {
  /** Unix milliseconds: a time limit ended the search there. null: it covers everything. */
  readonly searchedFrom: number | null;
}

export interface RequestAttempts {
  readonly attempts: readonly AttemptDetail[];
  /** For a refused request that shares the entry of another one; `calls` null: that entry is not in the ledger. */
  readonly countedIn: { readonly requestId: string; readonly calls: number | null } | null;
}

/** Filters of usage. `userAgent`: a family, see `userAgentFamily`. */
export interface UsageScope extends CallFilter, Span {
  readonly userAgent?: string;
  readonly endpoint?: string;
  /** Name of a tag: for `by: "tag"`, and for `tagValue`. */
  readonly tag?: string;
  readonly tagValue?: string;
}

export interface UsageFilter extends UsageScope {
  readonly stepMs: number;
  readonly by: UsageDimension;
  /** The time that this one is compared with. Default: the same length before. */
  readonly compared?: Span;
  /**
   * For steps of local days: offsets of a time zone, in order, each until a moment. `at` of a point is then the local time of the day's
   * beginning, as if it were UTC.
   */
  readonly zone?: readonly ZoneOffset[];
}

export interface ZoneOffset {
  readonly until: number;
  readonly offsetMs: number;
}

/** `sort`: see `usageSorts`. Times are widened to whole hours. */
export interface UsageRowsFilter extends UsageScope {
  readonly by: Exclude<UsageDimension, "none">;
  /** Part of the label. */
  readonly search?: string;
  readonly sort: UsageSort;
  readonly compared?: Span;
}

export interface UsageRow {
  /** `-`: none, such as calls without a person or without the tag. */
  readonly id: string;
  readonly label: string;
  readonly figures: UsageFigures;
  readonly costNanoUsd: number;
  /** Of the compared time; null if none is compared. */
  readonly previous: UsageFigures | null;
}

export interface UsageRowsPage extends Paged<UsageRow> {
  /** Rows on all pages. */
  readonly count: number;
  /** Of everything that the filter covers, regardless of `search` and of whom the viewer may see. */
  readonly totals: UsageFigures;
  readonly costNanoUsd: number;
  readonly previous: UsageFigures | null;
}

export interface KeyUsageQuery extends Span {
  /** `value`: only calls with it, empty for calls without the tag. `groups`: sums by its values instead of models. */
  readonly tag?: { readonly name: string; readonly value?: string; readonly groups: boolean };
}

/** `workspaceId` null: all. */
export interface CostFilter extends Span {
  readonly workspaceId: string | null;
}

/** Sessions with a call since `from` that began before `to`. `search`: the beginning of their id. */
export interface SessionFilter extends Partial<Span> {
  readonly workspaceId: string | null;
  readonly keyId?: string;
  readonly personId?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly search?: string;
  readonly sort: SessionSort;
  /** As in `CallFilter`. */
  readonly visiblePerson?: string | undefined;
}

export type SessionAgentFilter = Pick<SessionFilter, "workspaceId" | "visiblePerson" | "from" | "to">;

/** A session of a key as one viewer may see it. */
export interface SessionPlace extends Pick<SessionFilter, "workspaceId" | "visiblePerson"> {
  readonly keyId: string;
  readonly session: string;
}

/** A person's spend of one day in a workspace. `day`: its start in UTC, Unix milliseconds. */
export interface PersonDaySpend {
  readonly workspaceId: string;
  readonly personId: string;
  readonly day: number;
  readonly usd: number;
}

/** A line of a chart. `at`: start of each step that has data. */
export interface UsageLine {
  readonly id: string;
  readonly label: string;
  readonly totals: UsageFigures;
  readonly points: readonly { readonly at: number; readonly figures: UsageFigures }[];
}

export interface UsageReport {
  /** As requested, or an hour if shorter steps are not available. */
  readonly stepMs: number;
  readonly totals: UsageFigures;
  readonly previous: UsageFigures;
  readonly previousPeriod: Span;
  readonly previousPoints: UsageLine["points"];
  /** At most nine, most expensive first, then one with an empty id for the rest. */
  readonly lines: readonly UsageLine[];
}

/** `months`: whole hours. */
export interface ChargebackFilter {
  readonly workspaceId: string | null;
  readonly by: "group" | "workspace" | "tag";
  readonly tag?: string;
  /** Only calls with this value of the tag; empty: without the tag. */
  readonly tagValue?: string;
  readonly months: readonly Span[];
}

/** Costs in the order of the months. */
export interface Chargeback {
  /** Most expensive first. The last one has an empty id if there are more than `bounds.reportRowsMax`. */
  readonly data: readonly { readonly id: string; readonly label: string; readonly costNanoUsd: readonly NanoUsd[] }[];
  readonly totals: readonly NanoUsd[];
}

export interface CostSum extends Pick<UsageFigures, "attempts" | "cost_usd" | "vendor_cost_usd" | "own_cost_usd"> {
  readonly provider: string;
  readonly model: string;
}

export interface KeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly groupId?: string;
  readonly state?: string;
  /** Keys that this user created or owns. */
  readonly userId?: string;
  /** Keys that need a decision before this user can leave. */
  readonly leaverId?: string;
  /** Keys that this user may call with from the console. */
  readonly callableBy?: { readonly userId: string; readonly isAdmin: boolean };
  /** Keys of this person, with a secret or through agents. */
  readonly ownerId?: string;
  readonly service?: boolean;
  readonly keyId?: string;
  /** Keys that may call this model: keys of groups that may, by the key's own patterns. */
  readonly model?: { readonly name: string; readonly groupIds: readonly string[] };
  readonly tag?: { readonly name: string; readonly value?: string };
  /** Keys that expire until then. */
  readonly expiresBefore?: number;
  /** Keys without a call since then, by whole hours. */
  readonly unusedSince?: number;
  readonly now: number;
}

export interface KeyOrder {
  readonly sort: KeySort;
  /** If set, spend of other people's keys is neither compared nor returned, because it is theirs alone. */
  readonly visiblePerson: string | null;
  /** When the current periods of budgets began. */
}

/** A page of keys with their spend of today (UTC) and the 30 days before. `total` counts the keys of all pages. */
export interface KeyList extends Paged<ConsoleKey & { readonly spend_usd: number | null }> {
  readonly total: number;
}

export interface AuditFilter extends Partial<Span> {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly action?: string;
}

/** The rows of a list, and the filters of its pages. */
export type CountedList =
  | { readonly list: "audit"; readonly filter: AuditFilter }
  | { readonly list: "tasks"; readonly filter: TaskCountFilter }
  | { readonly list: "assets"; readonly filter: { readonly workspaceId: string; readonly groupId?: string } }
  | { readonly list: "tokens"; readonly filter: { readonly ownerId: string | null } };

interface TaskCountFilter {
  readonly workspaceId: string | null;
  readonly keyId?: string;
  readonly model?: string;
  readonly states?: readonly TaskState[];
  /** Only tasks of this person and tasks without a person. null: all. */
  readonly visiblePerson?: string | null;
}

/** Up to `bounds.listCountMax`. `total` null: the list is too long to count the matches. */
export interface ListCount {
  readonly total: number | null;
  readonly more_than_total: boolean;
}

/** Usage of a model by class, for simulating a price. */
export interface ModelUsage {
  readonly model: string;
  readonly requests: number;
  readonly failedRequests: number;
  readonly costUsd: number;
  readonly usage: Readonly<Record<string, number>>;
}

export interface BilledUsageQuery extends Span {
  readonly provider: string;
}

/** Entries of a provider with the same model, price and kind of usage. */
export interface BilledUsage {
  readonly model: string;
  /** The model that the vendor bills. */
  readonly upstreamModel: string;
  /** Why money was booked without a call; null: an entry of calls. `adjusts` is the class of the bill, except for `storage`. */
  readonly adjustment: AdjustmentReason | null;
  readonly adjusts: string | null;
  readonly isEstimated: boolean;
  /** The answer failed or broke off, or the caller disconnected. */
  readonly isBroken: boolean;
  /** Tier, region and speed, if not the defaults. */
  readonly served: string | null;
  /** The calls began on one UTC day and ended on a later one. */
  readonly runsOver: boolean;
  readonly calls: number;
  readonly usage: Usage;
  readonly costNanoUsd: NanoUsd;
  /** null: no price. */
  readonly prices: PriceTable | null;
}

/**
 * `from` and `to`: Unix milliseconds; `to` null: no end. Parts of an hour are read from entries, which may have been removed.
 * `bucketMs`: also by buckets of this length.
 */
export interface SpendingQuery {
  readonly kind: ScopeKind;
  readonly id: string;
  readonly from: number;
  readonly to: number | null;
  readonly bucketMs?: number;
  /** Set for a policy. */
  readonly counter?: PolicyCounter;
}

/** Model, provider and tags: only for budget policies. */
export interface RecentCost
  extends Pick<Intent, "attemptId" | "at" | "workspaceId" | "groupId" | "keyId" | "personId">,
    Partial<Pick<Intent, "model" | "provider" | "tags">> {
  readonly costNanoUsd: NanoUsd;
}

/** `later`: spent after the period. `buckets`: the start of each bucket, and what was spent in it. */
export interface SpentAmount {
  readonly amount: NanoUsd;
  readonly later: NanoUsd;
  readonly buckets?: readonly (readonly [start: number, amount: NanoUsd])[];
}

/** `value` empty: calls without one. */
export interface PolicyValue {
  readonly value: string;
  readonly amount: NanoUsd;
}

export interface SpendingReport {
  /** In the order of the queries. */
  readonly spent: readonly SpentAmount[];
  readonly recent: readonly RecentCost[];
}

export type AlertTrafficFilter = Pick<CallFilter, "workspaceId" | "model" | "provider" | "keyId" | "groupId">;

/** Requests of a workspace. `p95Ms`: of successful calls, with retries; null: there were none. */
export interface AlertTraffic {
  readonly workspaceId: string;
  readonly requests: number;
  readonly failed: number;
  readonly p95Ms: number | null;
}

export interface ProviderAttempts {
  readonly provider: string;
  readonly attempts: number;
  readonly failed: number;
}

/** `usd`: in the order of the times. `firstAt`: the first hour with usage since shortly before the earliest of them. */
export interface AlertSpend {
  readonly workspaceId: string;
  readonly usd: readonly number[];
  readonly firstAt: number | null;
}

/** Requests with a finding or a failed check of a guardrail. */
export interface AlertChecks {
  readonly workspaceId: string;
  readonly guardrailId: string;
  readonly name: string;
  readonly verdict: string;
  /** false: shadow mode. */
  readonly enforced: boolean;
  readonly requests: number;
  /** Why checks failed; null: they did not. */
  readonly error: string | null;
}

/** Calls of a key with the same warnings, among them marks of shadow mode. */
export interface AlertShadowMarks {
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId: string | null;
  readonly warnings: readonly string[];
}

/** Reads the ledger and audit log for the console, without delaying calls. Calls reject with `request_timeout` after `bounds.reportMs`. */
export interface ReportStore {
  /** Newest first. A page may be short or empty and still have a next one, because a search ends its page after `reportScanMs`. */
  requests(filter: RequestFilter, cursor: string | null, limit: number): Promise<RequestPage>;
  /** In another order than by time, without running background responses. */
  sortedRequests(filter: RequestFilter, sort: RequestSort, cursor: string | null, limit: number): Promise<RequestPage>;
  /** With `text` in a captured body, by the time of the capture. */
  requestsWithText(filter: RequestFilter, text: string, cursor: string | null, limit: number): Promise<RequestPage>;
  requestTotals(filter: RequestFilter): Promise<RequestTotals>;
  /** In the order they were made; none if the request is not in that workspace. */
  attempts(workspaceId: string | null, requestId: string): Promise<RequestAttempts>;
  /** Of a request, in the order they were made, at most 100. */
  requestChecks(requestId: string): Promise<readonly GuardrailCheckRow[]>;
  /** Newest first. */
  guardrailChecks(
    filter: GuardrailCheckFilter,
    cursor: string | null,
    limit: number,
  ): Promise<Paged<GuardrailCheckRow>>;
  guardrailFindings(filter: GuardrailCheckFilter, by: FindingsDimension, stepMs: number): Promise<GuardrailFindings>;
  /** Percentiles are exact to 2 %. */
  usage(filter: UsageFilter): Promise<UsageReport>;
  /** All values of a dimension with their usage, in any order, by page. */
  usageRows(filter: UsageRowsFilter, cursor: string | null, limit: number): Promise<UsageRowsPage>;
  /** Names of tags, at most 200. */
  usageTags(filter: CostFilter): Promise<readonly string[]>;
  chargeback(filter: ChargebackFilter): Promise<Chargeback>;
  sessions(filter: SessionFilter, cursor: string | null, limit: number): Promise<AnswerOf<"sessions.list">>;
  /** Agents of the sessions, most sessions first, at most `sessionAgentsMax`. */
  sessionAgents(filter: SessionAgentFilter): Promise<AnswerOf<"sessions.agents">["data"]>;
  /** null: there is no such session, or it is not visible. */
  session(place: SessionPlace): Promise<RequestSession | null>;
  /** Attempts of the session, oldest first. null as in `session`. */
  sessionRequests(place: SessionPlace, cursor: string | null, limit: number): Promise<Paged<SessionRequest> | null>;
  /** Tools of the caller in captured requests. null as in `session`. */
  sessionTools(place: SessionPlace): Promise<AnswerOf<"sessions.tools"> | null>;
  /** The request's place in its session. `visiblePerson` must be able to see the request. */
  requestSession(
    place: Pick<SessionPlace, "workspaceId" | "visiblePerson">,
    requestId: string,
  ): Promise<AnswerOf<"requests.session">>;
  /** Most expensive first, at most `bounds.reportRowsMax`. Times are widened to whole hours. */
  costs(filter: CostFilter): Promise<readonly CostSum[]>;
  keyList(filter: KeyFilter, order: KeyOrder, cursor: string | null, limit: number): Promise<KeyList>;
  /** By name. */
  keys(filter: KeyFilter, cursor: string | null, limit: number): Promise<Paged<ConsoleKey>>;
  listCount(counted: CountedList): Promise<ListCount>;
  /** Newest first. Pages may be short, as in `requests`. */
  audit(filter: AuditFilter, cursor: string | null, limit: number): Promise<Paged<AuditRow>>;
  /** Of each person since a time, in whole hours, in all workspaces. People who spent nothing are omitted. */
  personSpend(from: number): Promise<readonly { readonly personId: string; readonly usd: number }[]>;
  /** By model; `model` null: all models. */
  modelUsage(model: string | null, from: number, to: number): Promise<readonly ModelUsage[]>;
  /** Attempts and failures of each deployment since a time. */
  deploymentUse(since: number): Promise<
    readonly {
      readonly deployment: string;
      readonly provider: string;
      readonly attempts: number;
      readonly failed: number;
    }[]
  >;
  /**
   * USD by scope and UTC day (Unix milliseconds of its start). Keys without a budget are summed under an empty id. `keyId`: only this
   * key.
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
  /** Like `dailySpend`, for people, by the ids of their scopes (`personScopeId`). */
  personDailySpend(scopeIds: readonly string[], since: number): Promise<readonly PersonDaySpend[]>;
  /**
   * Spending of scopes, and their entries that ended since `endedSince`, in one snapshot, so that costs counted elsewhere meanwhile can
   * be recognized. At most bounds.budgetReadEntriesMax + 1 entries.
   */
  spending(queries: readonly SpendingQuery[], endedSince: number): Promise<SpendingReport>;
  /** The values of a split policy that spent the most since an hour, most first. */
  policyValues(counter: PolicyCounter, from: number, limit: number): Promise<readonly PolicyValue[]>;
  /** Usage of one key by model or tag. */
  keyUsage(keyId: string, query: KeyUsageQuery): Promise<readonly UsageSum[]>;
  /** Usage of a provider as its bill counts it, in whole hours. */
  billedUsage(query: BilledUsageQuery): Promise<readonly BilledUsage[]>;
  /** By workspace, from the latest entries of a time, at most a bounded number. */
  alertTraffic(filter: AlertTrafficFilter & Span): Promise<readonly AlertTraffic[]>;
  /** Attempts that succeeded, or failed by the provider's fault. Unix milliseconds, `to` excluded. */
  alertProviders(from: number, to: number): Promise<readonly ProviderAttempts[]>;
  /** By workspace, guardrail and verdict, from the latest checks of a time. `workspaceId` null: every workspace. */
  alertChecks(
    filter: Span & { readonly workspaceId: string | null; readonly guardrailId?: string },
  ): Promise<readonly AlertChecks[]>;
  /** Calls that limits and grants in shadow mode would have refused, from the latest ones of a time. */
  alertShadowMarks(filter: Span & { readonly workspaceId: string | null }): Promise<readonly AlertShadowMarks[]>;
  /** Spend in several times by workspace. Leaves out workspaces that spent less than `minUsd` in the first one. */
  alertSpend(filter: AlertTrafficFilter, spans: readonly Span[], minUsd: number): Promise<readonly AlertSpend[]>;
  /** `entries` is approximate: it may include removed entries of up to one hour. */
  facts(): Promise<{ readonly entries: number; readonly sizeBytes: number | null }>;
  /** Copies the whole database into a file; `done` removes it. */
  backup(): Promise<{
    readonly bytes: ReadableStream<Uint8Array>;
    readonly size: number;
    readonly done: () => Promise<void>;
  }>;
  close(): Promise<void>;
}

export interface ExplainStore {
  explanation(requestId: string): Promise<Explanation | null>;
  capture(requestId: string): Promise<CaptureDetail | null>;
}
