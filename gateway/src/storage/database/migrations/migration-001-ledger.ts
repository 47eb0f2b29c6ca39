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
sums.push("vendor_cost_nano_usd", "compared_cost_nano_usd");

const counts = (names: readonly string[]) => names.map((name) => `${name} bigint not null default 0`).join(",\n  ");

/**
 * The ledger: one row per attempt. No foreign keys, because an entry outlives the key, model and workspace that it names. PostgreSQL
 * keeps it in parts by months of `at`, so `at` is in the key there. An attempt has one `at`: it is in the ledger once either way.
 */
export function ledgerTables({ name }: Flavour): readonly string[] {
  const postgres = name === "postgres";
  return [
    `create table ledger_entries (
  attempt_id text not null${postgres ? "" : " primary key"},
  request_id text not null,
  at bigint not null,
  ended_at bigint not null,
  calls integer not null,
  workspace_id text not null,
  group_id text not null,
  key_id text not null,
  person_id text,
  model text not null,
  requested_model text not null,
  provider text not null,
  deployment text not null,
  upstream_model text not null,
  served_model text,
  endpoint text not null,
  operation text,
  caller_dialect text not null,
  upstream_dialect text not null,
  stream bigint not null,
  retry_index bigint not null,
  outcome text not null,
  http_status bigint not null,
  upstream_status integer,
  error_code text,
  started_after_ms double precision not null,
  total_ms double precision not null,
  first_byte_ms double precision,
  first_token_ms double precision,
  upstream_ms double precision,
  overhead_ms double precision,
  usage_source text not null,
  ${counts(usage)},
  input_estimate bigint not null,
  reserved_nano_usd bigint not null,
  price_version text,
  cost_nano_usd bigint not null,
  cost_source text not null,
  vendor_cost_nano_usd bigint,
  own_cost_nano_usd bigint,
  served text,
  unpriced text,
  upstream_id text,
  user_agent text not null,
  tags text not null,
  warnings text,
  raw_usage text${postgres ? ",\n  constraint ledger_entries_pk primary key (attempt_id, at)" : ""}
)${postgres ? " partition by range (at)" : ""}`,
    // These two hold all that lists are searched by, so that a search for a rare entry among a million reads no rows.
    `create index ledger_entries_at on ledger_entries
  (at, attempt_id, model, provider, endpoint, outcome, http_status, error_code, total_ms)`,
    `create index ledger_entries_workspace on ledger_entries
  (workspace_id, at, attempt_id, group_id, model, provider, endpoint, outcome, http_status, error_code, total_ms)`,
    "create index ledger_entries_key on ledger_entries (key_id, at, attempt_id)",
    "create index ledger_entries_request on ledger_entries (request_id)",
    "create index ledger_entries_ended on ledger_entries (ended_at)",
    ...(postgres ? ["create table ledger_entries_default partition of ledger_entries default"] : []),

    // Attempts in progress, where the setting `ledger.durability` is `remote`.
    `create table open_attempts (
  attempt_id text not null primary key,
  owner text not null,
  heard_at bigint not null,
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

    // Objects that vendors keep (responses, threads, files), with the workspace and the account that each belongs to.
    `create table upstream_objects (
  workspace_id text not null,
  id text not null,
  kind text not null,
  provider text not null,
  key_id text not null,
  person_id text,
  deployment text not null,
  model text not null,
  upstream_model text not null,
  input_tokens bigint,
  created_at bigint not null,
  expires_at bigint,
  constraint upstream_objects_key primary key (workspace_id, id)
)`,
    "create index upstream_objects_expiring on upstream_objects (expires_at) where expires_at is not null",
  ];
}

const scope = `workspace_id text not null,
  group_id text not null,
  key_id text not null,
  person_id text,
  model text not null,
  provider text not null`;

const sketches = `call_ms_sketch text not null default '',
  call_first_token_ms_sketch text not null default '',
  attempt_ms_sketch text not null default '',
  attempt_first_token_ms_sketch text not null default ''`;

/** Sums of ledger entries by hour, and sums of whole days with fewer columns of scope. */
export function rollupTables({ name }: Flavour): readonly string[] {
  return [
    `create table usage_rollups (
  hour bigint not null,
  ${scope},
  ${counts(sums)},
  ${sketches},
  constraint usage_rollups_primary primary key (hour, workspace_id, group_id, key_id, model, provider)
)${name === "sqlite" ? " without rowid" : ""}`,
    "create index usage_rollups_key on usage_rollups (key_id, hour)",
    "create index usage_rollups_person on usage_rollups (person_id, hour) where person_id is not null",

    `create table usage_days (
  grain text not null,
  hour bigint not null,
  ${scope},
  ${counts(sums)},
  ${sketches},
  constraint usage_days_pk primary key (grain, hour, workspace_id, group_id, key_id, model, provider)
)`,
    "create index usage_days_workspace on usage_days (workspace_id, grain, hour)",
    "create index usage_days_group on usage_days (group_id, hour) where grain = 'group'",
    "create index usage_days_key on usage_days (key_id, hour) where grain = 'key'",
    // The most expensive keys are found in this index alone.
    `create index usage_days_cost on usage_days (workspace_id, hour, key_id, cost_nano_usd, attempts)
  where grain = 'key'`,
    // Days in which a key changed hands.
    "create index usage_days_several_people on usage_days (hour) where person_id = '*'",

    // Which days are summed, and how often their rollups have changed since. Triggers count the changes.
    `create table summed_days (
  day bigint not null primary key,
  touched bigint not null,
  summed bigint not null,
  summed_at bigint not null
)`,
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

  // A change of rollups takes the lock shared, and the start of a day's sum takes it alone: a change that does not see the day's
  // row yet is committed before the day is read. ledger-days.ts has the same number.
  `create function usage_rollups_touched() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(5310043);
  update summed_days set touched = touched + 1 where day in (select distinct hour - hour % 86400000 from changed);
  return null;
end $$`,
  ...events.map(
    ({ event, row }) => `create trigger usage_rollups_${event} after ${event} on usage_rollups
  referencing ${row} table as changed for each statement execute function usage_rollups_touched()`,
  ),
];

/** Why a request went as it did, and what was captured of it. */
export const requestTables: readonly string[] = [
  `create table request_explanations (
  request_id text not null primary key,
  workspace_id text not null,
  at bigint not null,
  explanation text not null
)`,
  "create index request_explanations_at on request_explanations (at)",

  `create table request_captures (
  request_id text not null primary key,
  workspace_id text not null,
  key_id text not null,
  at bigint not null,
  expires_at bigint not null,
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
