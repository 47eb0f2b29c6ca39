/** Type of a column. It decides how the column is stored, journaled, exported and shown. */
type LedgerKind =
  | "id"
  | "text"
  | "outcome"
  | "source"
  | "time"
  | "ms"
  | "count"
  | "calls"
  | "status"
  | "nanoUsd"
  | "flag"
  | "tags"
  | "texts"
  | "usage";

export interface LedgerRow {
  /** Name in the gateway's `LedgerEntry`. */
  readonly member: string;
  /** Name in the database, in exports and in the admin API. Usage has one column per class. */
  readonly column: string;
  readonly kind: LedgerKind;
  /** Entries are searched or sorted by it, so it is a database column in addition to the record. */
  readonly indexed?: true;
  readonly nullable?: true;
  /** Value of the column if an entry has no such member. Left out: every entry has it. */
  readonly absent?: 1 | "price" | null;
  /** Position in the journal's intent and settlement records. Never change or reuse one. */
  readonly journal: { readonly intent?: number; readonly settle?: number };
  /** Whether `sluice ledger export` contains it, in the order of this table; otherwise the reason. */
  readonly exported: true | { readonly no: string };
  /** Whether the admin API returns it in lists or only for a single request, or the field that it returns instead. */
  readonly shown: "list" | "detail" | { readonly instead: string };
  /** Description in the API. */
  readonly help?: string;
}

const listed = { exported: true, shown: "list" } as const;
const detailed = { exported: true, shown: "detail" } as const;
const exported = { exported: true } as const;

/**
 * The columns of a ledger entry. Database rows, journal records, exports and the admin API's schemas are generated from this table.
 * A new column needs a row here, a member of the gateway's `LedgerEntry`, and a migration.
 */
export const ledgerTable = [
  {
    member: "attemptId",
    column: "attempt_id",
    indexed: true,
    kind: "id",
    journal: { intent: 0, settle: 0 },
    ...listed,
  },
  { member: "requestId", column: "request_id", indexed: true, kind: "id", journal: { intent: 1 }, ...listed },
  { member: "at", column: "at", indexed: true, kind: "time", journal: { intent: 2 }, ...listed },
  { member: "endedAt", column: "ended_at", indexed: true, kind: "time", journal: { settle: 1 }, ...detailed },
  {
    member: "workspaceId",
    column: "workspace_id",
    indexed: true,
    kind: "id",
    journal: { intent: 3 },
    ...exported,
    shown: { instead: "`workspace`, with its slug" },
  },
  {
    member: "groupId",
    column: "group_id",
    indexed: true,
    kind: "id",
    journal: { intent: 4 },
    ...exported,
    shown: { instead: "`group`, with its name" },
  },
  {
    member: "keyId",
    column: "key_id",
    indexed: true,
    kind: "id",
    journal: { intent: 5 },
    ...exported,
    shown: { instead: "`key`, with its name" },
  },
  { member: "model", column: "model", indexed: true, kind: "text", journal: { intent: 6 }, ...listed },
  { member: "requestedModel", column: "requested_model", kind: "text", journal: { intent: 7 }, ...listed },
  {
    member: "provider",
    column: "provider",
    indexed: true,
    kind: "text",
    journal: { intent: 8 },
    ...listed,
    help: "Empty: the request was refused before a provider was chosen.",
  },
  { member: "deployment", column: "deployment", kind: "text", journal: { intent: 9 }, ...detailed },
  { member: "upstreamModel", column: "upstream_model", kind: "text", journal: { intent: 10 }, ...detailed },
  { member: "endpoint", column: "endpoint", kind: "text", journal: { intent: 11 }, ...listed },
  { member: "callerDialect", column: "caller_dialect", kind: "text", journal: { intent: 12 }, ...detailed },
  { member: "upstreamDialect", column: "upstream_dialect", kind: "text", journal: { intent: 13 }, ...detailed },
  { member: "stream", column: "stream", kind: "flag", journal: { intent: 14 }, ...listed },
  { member: "retryIndex", column: "retry_index", kind: "count", journal: { intent: 15 }, ...listed },
  { member: "outcome", column: "outcome", indexed: true, kind: "outcome", journal: { settle: 2 }, ...listed },
  { member: "httpStatus", column: "http_status", indexed: true, kind: "status", journal: { settle: 3 }, ...listed },
  {
    member: "errorCode",
    column: "error_code",
    indexed: true,
    kind: "text",
    nullable: true,
    journal: { settle: 4 },
    ...listed,
  },
  {
    member: "usage",
    column: "usage",
    kind: "usage",
    journal: { settle: 5 },
    ...detailed,
    help: "Usage by class. Classes do not overlap, except `reasoning`, which is part of `output`.",
  },
  { member: "usageSource", column: "usage_source", kind: "source", journal: { settle: 6 }, ...detailed },
  {
    member: "costNanoUsd",
    column: "cost_nano_usd",
    kind: "nanoUsd",
    journal: { settle: 8 },
    ...exported,
    shown: { instead: "`cost_usd`" },
  },
  {
    member: "priceVersion",
    column: "price_version",
    kind: "text",
    nullable: true,
    journal: { intent: 16, settle: 18 },
    ...detailed,
  },
  {
    member: "costSource",
    column: "cost_source",
    kind: "text",
    absent: "price",
    journal: { settle: 19 },
    ...detailed,
    help: "How the cost was determined: `price` (price times usage), `vendor` (reported by the vendor) or `adjustment` (booked without a call).",
  },
  {
    member: "vendorCostNanoUsd",
    column: "vendor_cost_nano_usd",
    kind: "nanoUsd",
    nullable: true,
    absent: null,
    journal: { settle: 20 },
    ...exported,
    shown: { instead: "`vendor_cost_usd`" },
  },
  {
    member: "ownCostNanoUsd",
    column: "own_cost_nano_usd",
    kind: "nanoUsd",
    nullable: true,
    absent: null,
    journal: { settle: 23 },
    ...exported,
    shown: { instead: "`own_cost_usd`" },
  },
  {
    member: "cacheSavedNanoUsd",
    column: "cache_saved_nano_usd",
    kind: "nanoUsd",
    nullable: true,
    absent: null,
    journal: { settle: 25 },
    ...exported,
    shown: { instead: "`cache_saved_usd`" },
  },
  {
    member: "served",
    column: "served",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { settle: 21 },
    ...detailed,
    help: "Service tier, region and speed that the response reports. null: the defaults.",
  },
  {
    member: "servedModel",
    column: "served_model",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { settle: 24 },
    ...detailed,
    help: "Model that the response names, if it is neither `upstream_model` nor a dated snapshot of it.",
  },
  {
    member: "unpriced",
    column: "unpriced",
    kind: "texts",
    nullable: true,
    absent: null,
    journal: { settle: 22 },
    ...detailed,
    help: "Usage classes that have no price, and `tier`, `geo` or `speed` if their price was assumed.",
  },
  {
    member: "reservedNanoUsd",
    column: "reserved_nano_usd",
    kind: "nanoUsd",
    journal: { intent: 18 },
    ...exported,
    shown: { instead: "`reserved_usd`" },
  },
  {
    member: "inputEstimate",
    column: "input_estimate",
    kind: "count",
    journal: { intent: 17 },
    ...exported,
    shown: { instead: "nothing: only recovery needs it" },
  },
  { member: "totalMs", column: "total_ms", indexed: true, kind: "ms", journal: { settle: 9 }, ...listed },
  { member: "firstByteMs", column: "first_byte_ms", kind: "ms", nullable: true, journal: { settle: 10 }, ...detailed },
  { member: "firstTokenMs", column: "first_token_ms", kind: "ms", nullable: true, journal: { settle: 11 }, ...listed },
  { member: "upstreamMs", column: "upstream_ms", kind: "ms", nullable: true, journal: { settle: 12 }, ...detailed },
  { member: "overheadMs", column: "overhead_ms", kind: "ms", nullable: true, journal: { settle: 13 }, ...detailed },
  {
    member: "upstreamId",
    column: "upstream_id",
    indexed: true,
    kind: "text",
    nullable: true,
    journal: { settle: 14 },
    ...detailed,
  },
  {
    member: "calls",
    column: "calls",
    kind: "calls",
    absent: 1,
    // Only refusals can be more than one. Their record has the count after both parts.
    journal: {},
    ...listed,
    help: "Number of calls in this row: identical refusals of one key within one second share a row. 0: usage in addition to an attempt, or an adjustment.",
  },
  {
    member: "upstreamStatus",
    column: "upstream_status",
    kind: "status",
    nullable: true,
    journal: { settle: 15 },
    ...detailed,
    help: "HTTP status of the upstream. `http_status` is the one that the caller received.",
  },
  {
    member: "startedAfterMs",
    column: "started_after_ms",
    kind: "ms",
    journal: { intent: 21 },
    ...listed,
    help: "Time from the arrival of the request to the start of the attempt. The other times count from that start.",
  },
  {
    member: "warnings",
    column: "warnings",
    kind: "texts",
    nullable: true,
    absent: null,
    journal: { settle: 16 },
    ...detailed,
    help: "Fields that could not be translated between the protocols of caller and upstream; and `would have been refused: …` with the limit or grant in shadow mode.",
  },
  {
    member: "operation",
    column: "operation",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 23 },
    ...listed,
    help: "Method and path template of a pass-through call, such as `GET /files/{id}`.",
  },
  {
    member: "personId",
    column: "person_id",
    indexed: true,
    kind: "id",
    nullable: true,
    absent: null,
    journal: { intent: 24 },
    ...exported,
    shown: { instead: "`person`, with their name" },
  },
  {
    member: "actorId",
    column: "actor_id",
    kind: "id",
    nullable: true,
    absent: null,
    journal: { intent: 25 },
    ...exported,
    shown: { instead: "`actor`, with their name" },
  },
  {
    member: "session",
    column: "session",
    indexed: true,
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 26 },
    ...listed,
    help: "Conversation that the request belongs to, unique within its key. null: unknown.",
  },
  {
    member: "sessionSource",
    column: "session_source",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 27 },
    ...detailed,
    help: "How the session was recognized: `header`, `agent`, `chain` (a stored response that it continues) or `prefix` (inferred from the beginning of the prompt). null: no session.",
  },
  {
    member: "batchId",
    column: "batch_id",
    kind: "id",
    nullable: true,
    absent: null,
    journal: { intent: 28 },
    ...listed,
    help: "Batch that the request is a row of. null: it is not part of a batch.",
  },
  {
    member: "customId",
    column: "custom_id",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 29 },
    ...listed,
    help: "The caller's own id of the row, unique within its batch.",
  },
  {
    member: "adjustment",
    column: "adjustment",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 30 },
    ...listed,
    help: "Why money was booked without a call: `reconciliation`, `opening_balance`, `credit`, `correction` or `storage`. null: it is a call.",
  },
  {
    member: "adjusts",
    column: "adjusts",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 31 },
    ...listed,
    help: "Usage class that an adjustment corrects, the id of the import, or the id of the vector store. null: it is a call.",
  },
  { member: "tags", column: "tags", kind: "tags", journal: { intent: 20 }, ...listed },
  { member: "userAgent", column: "user_agent", kind: "text", journal: { intent: 19 }, ...listed },
  { member: "rawUsage", column: "raw_usage", kind: "text", nullable: true, journal: { settle: 7 }, ...detailed },
] as const satisfies readonly LedgerRow[];

type Row = (typeof ledgerTable)[number];

/** Columns with a single value. Usage has one per class. */
export type LedgerColumn = Exclude<Row, { readonly kind: "usage" }>;

/** Database columns in addition to the record. */
export type IndexedLedgerColumn = Extract<LedgerColumn, { readonly indexed: true }>["column"];

/** A column as stored in the database. */
type StoredLedgerValue<Of extends LedgerRow> =
  | (Of["kind"] extends "time" | "ms" | "count" | "calls" | "status" | "nanoUsd" | "flag" ? number : string)
  | (Of extends { readonly nullable: true } ? null : never);

/** The columns of the database table, without usage. */
export type StoredLedgerColumns = { [Of in LedgerColumn as Of["column"]]: StoredLedgerValue<Of> };

/** A limit or grant in shadow mode would have refused the call: such a warning begins with this and ends with its name. */
export const shadowRefusedPrefix = "would have been refused: ";

export interface ShadowRefusal {
  /** `budget of 5 USD per day on key acme/ci`, `models of group acme/team`. */
  readonly text: string;
  readonly scope: "workspace" | "group" | "person" | "key";
  /** What would have refused it. */
  readonly grant: "limit" | "models" | "allowed_ips";
}

/** Reads such a warning; null: it is another one. */
export function shadowRefusalOf(warning: string): ShadowRefusal | null {
  if (!warning.startsWith(shadowRefusedPrefix)) return null;
  const text = warning.slice(shadowRefusedPrefix.length);
  const scope = / (?:on|of) (workspace|group|person|key) /.exec(text)?.[1] as ShadowRefusal["scope"] | undefined;
  if (scope === undefined) return null;
  const grant = text.startsWith("models of ")
    ? "models"
    : text.startsWith("allowed addresses of ")
      ? "allowed_ips"
      : "limit";
  return { text, scope, grant };
}
