import type { Flavour } from "../database.ts";

/** Charged classes: a column each in entries and in rollups. A new class needs a new migration. */
const usage = [
  ...["input_uncached", "cache_read", "cache_read_audio", "cache_write_5m", "cache_write_1h"],
  ...["output", "reasoning", "separate_reasoning", "audio_input", "audio_output"],
  ...["image_input", "image_output", "images", "video_seconds", "audio_seconds", "characters"],
  ...["web_searches", "file_searches", "map_searches", "code_sessions", "search_units", "charged_requests"],
  "unexplained",
];
const sums = ["attempts", "requests", "succeeded", "cancelled", ...usage, "cost_nano_usd"];
sums.push("vendor_cost_nano_usd", "compared_cost_nano_usd", "cache_saved_nano_usd");

/** The order in which records count them. */
const usageOrder = [
  ...["input_uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning"],
  ...["audio_input", "audio_output", "image_input", "image_output", "images", "video_seconds"],
  ...["web_searches", "file_searches", "code_sessions", "audio_seconds", "search_units", "characters"],
  ...["charged_requests", "cache_read_audio", "separate_reasoning", "map_searches", "unexplained"],
];

const counts = (names: readonly string[]) => names.map((name) => `${name} bigint not null default 0`).join(",\n  ");

/** Longer calls have a separate index. The same number as in ledger-reading.ts. */
const longCallMs = 60_000;

const storedColumns = [
  ...[
    "at",
    "attempt_id",
    "ended_at",
    "request_id",
    "workspace_id",
    "group_id",
    "key_id",
    "person_id",
    "model",
    "provider",
  ],
  ...["outcome", "http_status", "error_code", "total_ms", "upstream_id", "session"],
];

type Kind = "text" | "count" | "ms" | "flag" | "usage";

/** Paths of the other columns in a record: 0 is the intent, 1 the settlement. Durations are whole microseconds there. */
const recordColumns: readonly [column: string, kind: Kind, ...path: number[]][] = [
  ["requested_model", "text", 0, 7],
  ["deployment", "text", 0, 9],
  ["upstream_model", "text", 0, 10],
  ["endpoint", "text", 0, 11],
  ["caller_dialect", "text", 0, 12],
  ["upstream_dialect", "text", 0, 13],
  ["stream", "flag", 0, 14],
  ["retry_index", "count", 0, 15],
  ["input_estimate", "count", 0, 17],
  ["reserved_nano_usd", "count", 0, 18],
  ["user_agent", "text", 0, 19],
  ["tags", "text", 0, 20],
  ["started_after_ms", "ms", 0, 21],
  ["operation", "text", 0, 23],
  ["session_source", "text", 0, 27],
  ["batch_id", "text", 0, 28],
  ["custom_id", "text", 0, 29],
  ["adjustment", "text", 0, 30],
  ["adjusts", "text", 0, 31],
  ...usageOrder.map((column, index): [string, Kind, ...number[]] => [column, "usage", 1, 5, index]),
  ["usage_source", "text", 1, 6],
  ["raw_usage", "text", 1, 7],
  ["cost_nano_usd", "count", 1, 8],
  ["first_byte_ms", "ms", 1, 10],
  ["first_token_ms", "ms", 1, 11],
  ["upstream_ms", "ms", 1, 12],
  ["overhead_ms", "ms", 1, 13],
  ["upstream_status", "count", 1, 15],
  ["warnings", "text", 1, 16],
  ["price_version", "text", 1, 18],
  ["vendor_cost_nano_usd", "count", 1, 20],
  ["served", "text", 1, 21],
  ["unpriced", "text", 1, 22],
  ["own_cost_nano_usd", "count", 1, 23],
  ["served_model", "text", 1, 24],
  ["cache_saved_nano_usd", "count", 1, 25],
];

/** The value of a column if the record has none. */
const whereAbsent: readonly [column: string, path: readonly number[], kind: Kind, absent: string][] = [
  ["calls", [2], "count", "1"],
  ["cost_source", [1, 19], "text", "'price'"],
];

function ledgerView(postgres: boolean): string {
  const read = (kind: Kind, path: readonly number[]): string => {
    if (!postgres) {
      const value = `record ->> '$[${path.join("][")}]'`;
      return kind === "ms" ? `(${value}) / 1000.0` : value;
    }
    const value = `record #>> '{${path.join(",")}}'`;
    if (kind === "text") return `(${value}) collate "C"`;
    if (kind === "ms") return `(${value})::double precision / 1000`;
    return kind === "flag" ? `(${value})::boolean::integer::bigint` : `(${value})::bigint`;
  };
  return [
    ...storedColumns,
    ...recordColumns.map(([column, kind, ...path]) => {
      const value = read(kind, path);
      return `${kind === "usage" ? `coalesce(${value}, 0)` : value} as ${column}`;
    }),
    ...whereAbsent.map(([column, path, kind, absent]) => `coalesce(${read(kind, path)}, ${absent}) as ${column}`),
    "record",
  ].join(",\n  ");
}

/**
 * The ledger: one row per attempt, with its journal record and the queried columns. The view `ledger` has every column and reads the others
 * from the record. No foreign keys, because an entry outlives the key, model and workspace that it names. PostgreSQL partitions it by
 * months of `at`. An attempt has one `at`, so it is in the ledger once.
 */
export function ledgerTables({ name }: Flavour): readonly string[] {
  const postgres = name === "postgres";
  return [
    `create table ledger_entries (
  at bigint not null,
  attempt_id text not null,
  ended_at bigint not null,
  request_id text not null,
  workspace_id text not null,
  group_id text not null,
  key_id text not null,
  person_id text,
  model text not null,
  provider text not null,
  outcome text not null,
  http_status bigint not null,
  error_code text,
  total_ms double precision not null,
  upstream_id text,
  session text,
  record ${postgres ? "jsonb" : "text"} not null,
  constraint ledger_entries_pk primary key (at, attempt_id)
) ${postgres ? "partition by range (at)" : "without rowid"}`,
    "create index ledger_entries_workspace on ledger_entries (workspace_id, at, attempt_id, key_id)",
    "create index ledger_entries_request on ledger_entries (request_id)",
    // The last ones are partial: long calls, answers that an upstream stores, and calls of a session.
    `create index ledger_entries_long on ledger_entries (ended_at) where ended_at > at + ${longCallMs}`,
    "create index ledger_entries_upstream on ledger_entries (upstream_id) where upstream_id is not null",
    "create index ledger_entries_session on ledger_entries (key_id, session, at) where session is not null",
    ...(postgres ? ["create table ledger_entries_default partition of ledger_entries default"] : []),
    `create view ledger as select ${ledgerView(postgres)} from ledger_entries`,

    // Attempts in progress, where the setting `ledger.durability` is `remote`.
    `create table open_attempts (
  attempt_id text not null primary key,
  owner text not null,
  updated_at bigint not null,
  intent text not null,
  checkpoint text
)`,
    "create index open_attempts_by_owner on open_attempts (owner, attempt_id)",

    // Hours of the ledger that were copied to a bucket, for each bucket.
    `create table exported_hours (
  destination text not null,
  hour bigint not null,
  entries bigint not null,
  checked_at bigint not null,
  constraint exported_hours_key primary key (destination, hour)
)`,

    // Days with final FOCUS rows, in the order in which they were closed, and their rows.
    `create table focus_days (
  day bigint not null primary key,
  seq bigint not null unique,
  run text not null,
  closed_at bigint not null,
  digest text not null
)`,
    `create table focus_parts (
  day bigint not null,
  run text not null,
  seq bigint not null,
  charge_day bigint not null,
  workspace_id text not null,
  row_count bigint not null,
  attempts bigint not null,
  cost_nano_usd bigint not null,
  digest text not null,
  csv text not null,
  sums text not null,
  constraint focus_parts_pk primary key (day, run, seq)
)`,
    "create index focus_parts_charged on focus_parts (charge_day, workspace_id)",
    // How often the sums of a day had changed when its late entries were last exported.
    `create table focus_checks (
  day bigint not null primary key,
  touched bigint not null
)`,

    // Objects that vendors keep (responses, threads, files), with the workspace and the account that each belongs to.
    `create table upstream_objects (
  workspace_id text not null,
  id text not null,
  kind text not null,
  provider text not null,
  key_id text not null,
  person_id text,
  session text,
  deployment text not null,
  model text not null,
  upstream_model text not null,
  input_tokens bigint,
  created_at bigint not null,
  expires_at bigint,
  masked text,
  constraint upstream_objects_key primary key (workspace_id, id)
)`,
    `create index upstream_objects_listed on upstream_objects (workspace_id, kind, created_at)
  where kind in ('container', 'conversation', 'skill', 'vector_store')`,
    "create index upstream_objects_expiring on upstream_objects (expires_at) where expires_at is not null",
  ];
}

const scope = `workspace_id text not null,
  group_id text not null,
  key_id text not null,
  person_id text not null default '',
  model text not null,
  provider text not null,
  user_agent text not null default '',
  endpoint text not null default '',
  tags text not null default ''`;

const scopeKey = "hour, workspace_id, group_id, key_id, person_id, model, provider, user_agent, endpoint, tags";

const sketches = `call_ms_sketch text not null default '',
  call_first_token_ms_sketch text not null default '',
  attempt_ms_sketch text not null default '',
  attempt_first_token_ms_sketch text not null default ''`;

/** Sums with fewer columns of scope than the rollups: of whole days, or of hours. */
function sumTable(table: string): readonly string[] {
  return [
    `create table ${table} (
  grain text not null,
  hour bigint not null,
  ${scope},
  ${counts(sums)},
  ${sketches},
  constraint ${table}_pk primary key (grain, ${scopeKey})
)`,
    `create index ${table}_workspace on ${table} (workspace_id, grain, hour)`,
  ];
}

function counterTable(table: string, time: string): string {
  return `create table ${table} (
  ${time} bigint not null primary key,
  touched bigint not null,
  summed bigint not null,
  summed_at bigint not null
)`;
}

/** Sums of ledger entries by hour, and sums of them with fewer columns of scope. */
export function rollupTables({ name }: Flavour): readonly string[] {
  return [
    `create table usage_rollups (
  hour bigint not null,
  ${scope},
  ${counts(sums)},
  ${sketches},
  constraint usage_rollups_primary primary key (${scopeKey})
)${name === "sqlite" ? " without rowid" : ""}`,
    "create index usage_rollups_key on usage_rollups (key_id, hour)",
    "create index usage_rollups_person on usage_rollups (person_id, hour)",

    ...sumTable("usage_days"),
    "create index usage_days_group on usage_days (group_id, hour) where grain = 'group'",
    // Spend of keys is read in these indexes alone.
    `create index usage_days_key on usage_days (key_id, hour, workspace_id, group_id, cost_nano_usd, attempts)
  where grain = 'key'`,
    `create index usage_days_cost on usage_days (workspace_id, hour, key_id, cost_nano_usd, attempts)
  where grain = 'key'`,
    "create index usage_days_person on usage_days (person_id, hour) where grain = 'person'",
    ...sumTable("usage_hours"),

    // Which days and hours are summed, and how often their rollups have changed since. Triggers count the changes.
    counterTable("summed_days", "day"),
    counterTable("summed_hours", "hour"),
    ...(name === "sqlite" ? sqliteRollups : postgresRollups),
  ];
}

const events = [
  { event: "insert", row: "new" },
  { event: "update", row: "new" },
  { event: "delete", row: "old" },
];

const sqliteRollups = events.map(
  ({ event, row }) => `create trigger usage_rollups_${event} after ${event} on usage_rollups begin
  update summed_days set touched = touched + 1 where day = ${row}.hour - ${row}.hour % 86400000;
  update summed_hours set touched = touched + 1 where hour = ${row}.hour;
end`,
);

const postgresRollups = [
  "create index usage_rollups_workspace on usage_rollups (workspace_id, hour)",
  "create index usage_rollups_group on usage_rollups (group_id, hour)",

  // Inserts only add rows to the tail, and a background job folds them into the rollups. The tail inherits, so a query of
  // `usage_rollups` reads both. Its rows come and go all the time, so they are vacuumed early.
  `create table usage_rollups_tail () inherits (usage_rollups) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
)`,

  // A change of rollups takes the lock shared, and the start of a sum takes it alone: a change that does not see the counter yet is
  // committed before the rollups are read. ledger-sums.ts has the same number.
  `create function usage_rollups_touched() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(5310043);
  update summed_days set touched = touched + 1 where day in (select distinct hour - hour % 86400000 from changed);
  update summed_hours set touched = touched + 1 where hour in (select distinct hour from changed);
  return null;
end $$`,
  ...events.map(
    ({ event, row }) => `create trigger usage_rollups_${event} after ${event} on usage_rollups
  referencing ${row} table as changed for each statement execute function usage_rollups_touched()`,
  ),
];

// Lists are filtered, sorted and added up in these indexes alone.
const listedColumns = `last_at, first_at, key_id, session, person_id, agent, requests, turns, errors, cost_nano_usd,
  input_tokens, cache_read_tokens, output_tokens`;

/** Sums of ledger entries by session. Callers choose session ids, which are unique within their key only. */
export const sessionTables: readonly string[] = [
  `create table sessions (
  key_id text not null,
  session text not null,
  workspace_id text not null,
  group_id text not null,
  person_id text,
  source text not null,
  agent text not null,
  models text not null,
  first_at bigint not null,
  last_at bigint not null,
  requests bigint not null,
  turns bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  cost_nano_usd bigint not null,
  listed bigint not null,
  constraint sessions_pk primary key (key_id, session)
)`,
  `create index sessions_listed on sessions (${listedColumns}, workspace_id) where listed = 1`,
  `create index sessions_listed_workspace on sessions (workspace_id, ${listedColumns}) where listed = 1`,
  "create index sessions_not_listed on sessions (last_at) where listed = 0",
];

/** Checks of guardrails that found something or failed, and the number of all checks by hour. Without foreign keys, like the ledger. */
export const guardrailCheckTables: readonly string[] = [
  `create table guardrail_checks (
  at bigint not null,
  check_id text not null,
  request_id text not null,
  workspace_id text not null,
  group_id text not null,
  key_id text not null,
  person_id text,
  guardrail_id text not null,
  guardrail_name text not null,
  definition text not null,
  side text not null,
  action text not null,
  enforced integer not null,
  verdict text not null,
  counts text not null,
  paths text not null,
  unmasked bigint not null,
  unreadable bigint not null,
  duration_ms double precision not null,
  error text,
  constraint guardrail_checks_pk primary key (at, check_id)
)`,
  "create index guardrail_checks_workspace on guardrail_checks (workspace_id, at, check_id)",
  "create index guardrail_checks_request on guardrail_checks (request_id)",

  `create table guardrail_hours (
  hour bigint not null,
  source text not null,
  workspace_id text not null,
  guardrail_id text not null,
  guardrail_name text not null,
  side text not null,
  verdict text not null,
  enforced integer not null,
  checks bigint not null,
  constraint guardrail_hours_pk primary key (hour, workspace_id, guardrail_id, side, verdict, enforced, source)
)`,
];

/** Explanations of requests (routing, prices, refusals), and captured requests. */
export const requestTables: readonly string[] = [
  `create table request_explanations (
  request_id text not null primary key,
  workspace_id text not null,
  at bigint not null,
  explanation text not null
)`,
  "create index request_explanations_at on request_explanations (at)",

  // Refused requests that share the ledger entry of another one, with a record each.
  `create table folded_requests (
  request_id text not null primary key,
  workspace_id text not null,
  at bigint not null,
  counted_in text not null,
  record text not null
)`,
  "create index folded_requests_at on folded_requests (at)",

  `create table request_captures (
  request_id text not null primary key,
  workspace_id text not null,
  key_id text not null,
  at bigint not null,
  expires_at bigint not null,
  tools text,
  request_headers text not null,
  response_headers text not null,
  request_body text,
  request_bytes bigint,
  response_body text,
  response_bytes bigint,
  truncated integer not null
)`,
  "create index request_captures_expiry on request_captures (expires_at)",
  "create index request_captures_at on request_captures (at)",
];
