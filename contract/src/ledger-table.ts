/** What a column holds: how it is stored, kept in journals, exported and shown goes by it. */
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
  /** Of an entry, as the gateway's code says it. */
  readonly member: string;
  /** In the database, in exports and in the admin API. Usage has a column for each of its classes. */
  readonly column: string;
  readonly kind: LedgerKind;
  /** Entries are found or sorted by it, so the table holds it beside the record. */
  readonly indexed?: true;
  readonly nullable?: true;
  /** What the column holds where an entry leaves the member out; without it none does. */
  readonly absent?: 1 | "price" | null;
  /** Its place in the journal's records of an intent and of a settlement: never changed, and never used again. */
  readonly journal: { readonly intent?: number; readonly settle?: number };
  /** In `sluice ledger export`, in the order of this table; or why not. */
  readonly exported: true | { readonly no: string };
  /** In the admin API: with each attempt of a list, with those of one request, or what stands there instead. */
  readonly shown: "list" | "detail" | { readonly instead: string };
  /** What the API says of it. */
  readonly help?: string;
}

const listed = { exported: true, shown: "list" } as const;
const detailed = { exported: true, shown: "detail" } as const;
const exported = { exported: true } as const;

/**
 * An entry of the ledger, once: the database's rows, journal records, export and the admin API's schemas are made of this table. A
 * new column needs a line here, its member in the gateway's `LedgerEntry`, and a migration.
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
    help: "Empty: refused before one was chosen.",
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
    help: "By class; they do not overlap, but `reasoning` is inside output.",
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
    help: "What the cost comes from: `price` (times the usage) or `vendor` (its own figure).",
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
    member: "served",
    column: "served",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { settle: 21 },
    ...detailed,
    help: "How the answer says it was served: service tier, region, speed. null: nothing out of the ordinary.",
  },
  {
    member: "servedModel",
    column: "served_model",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { settle: 24 },
    ...detailed,
    help: "The model that the answer names, where that is not `upstream_model` or a dated snapshot of it.",
  },
  {
    member: "unpriced",
    column: "unpriced",
    kind: "texts",
    nullable: true,
    absent: null,
    journal: { settle: 22 },
    ...detailed,
    help: "What was used and has no price (classes of usage), or an assumed one (`tier`, `geo`, `speed`).",
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
    // Only refusals are more than one; their record says it behind both parts.
    journal: {},
    ...listed,
    help: "How many calls the row stands for: refusals of one key in one second that are alike are one. 0: what was used beside an attempt.",
  },
  {
    member: "upstreamStatus",
    column: "upstream_status",
    kind: "status",
    nullable: true,
    journal: { settle: 15 },
    ...detailed,
    help: "What the upstream answered; `http_status` is what its caller was.",
  },
  {
    member: "startedAfterMs",
    column: "started_after_ms",
    kind: "ms",
    journal: { intent: 21 },
    ...detailed,
    help: "How long the caller had waited when the attempt began; its own times come on top.",
  },
  {
    member: "warnings",
    column: "warnings",
    kind: "texts",
    nullable: true,
    absent: null,
    journal: { settle: 16 },
    ...detailed,
    help: "What could not be carried between the protocols of caller and upstream.",
  },
  {
    member: "operation",
    column: "operation",
    kind: "text",
    nullable: true,
    absent: null,
    journal: { intent: 23 },
    ...listed,
    help: "Of a call that was passed through: its method and what kind of path it had, such as `GET /files/{id}`.",
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
  { member: "tags", column: "tags", kind: "tags", journal: { intent: 20 }, ...detailed },
  { member: "userAgent", column: "user_agent", kind: "text", journal: { intent: 19 }, ...detailed },
  { member: "rawUsage", column: "raw_usage", kind: "text", nullable: true, journal: { settle: 7 }, ...detailed },
] as const satisfies readonly LedgerRow[];

type Row = (typeof ledgerTable)[number];

/** The columns that are a value each; usage has one for each class. */
export type LedgerColumn = Exclude<Row, { readonly kind: "usage" }>;

/** The columns that the table holds beside the record. */
export type IndexedLedgerColumn = Extract<LedgerColumn, { readonly indexed: true }>["column"];

/** A column as the database holds it. */
type StoredLedgerValue<Of extends LedgerRow> =
  | (Of["kind"] extends "time" | "ms" | "count" | "calls" | "status" | "nanoUsd" | "flag" ? number : string)
  | (Of extends { readonly nullable: true } ? null : never);

/** The columns of the database's table, but for those of usage. */
export type StoredLedgerColumns = { [Of in LedgerColumn as Of["column"]]: StoredLedgerValue<Of> };
