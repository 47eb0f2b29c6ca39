import { usageTable } from "@sluice/contract/words";
import { sql } from "kysely";
import { userAgentFamily } from "../../gateway/src/core/index.ts";
import { createLedgerStore, type Database, migrate } from "../../gateway/src/storage/index.ts";
import { sessionEntrySums, sessionSums } from "../../gateway/src/storage/ledger/session-sums.ts";
import {
  type Filled,
  groupsEach,
  insertKeys,
  keyId,
  people,
  personId,
  type Rows,
  userAgents,
  workspaceId,
  workspaces,
} from "./console-rows.ts";

const chunkRows = 250_000;
const dayMs = 86_400_000;
/** Number of connections that insert concurrently. */
export const fillers = 4;

/**
 * Creates the installation of `fillConsole` with SQL on the PostgreSQL server, which takes minutes for ten million entries. It has the
 * same skew and the same format of ids and rollups, and its totals match the entries.
 */
export async function fillPostgres(
  database: Database,
  rows: Rows,
): Promise<Omit<Filled, "directory" | "databasePath">> {
  const { kysely } = database;
  const startedAt = performance.now();
  await migrate(database);
  await insertKeys(database, rows);
  const store = createLedgerStore(database);
  for (let days = 0; days <= rows.days; days += 20) await store.createPartitions(rows.now - days * dayMs);
  const indexes = await dropIndexes(database);
  const chunks = Math.ceil(rows.entries / chunkRows);
  await atOnce(chunks, async (n) => {
    await sql.raw(entriesOf(rows, n * chunkRows, Math.min((n + 1) * chunkRows, rows.entries))).execute(kysely);
    console.error(`${n + 1} of ${chunks} parts of the entries, ${secondsSince(startedAt)}`);
  });
  const [key = "", ...others] = indexes;
  await sql.raw(key).execute(kysely);
  await atOnce(others.length, async (n) => {
    await sql.raw(others[n] ?? "").execute(kysely);
    console.error(`${others[n]?.slice(0, 40)}, ${secondsSince(startedAt)}`);
  });
  await atOnce(rows.days + 1, async (n) => {
    await sql.raw(rollupsOf(rows.now - n * dayMs)).execute(kysely);
  });
  await sql.raw("insert into usage_rollups select * from usage_rollups_tail").execute(kysely);
  await sql.raw("truncate usage_rollups_tail").execute(kysely);
  await sql.raw(sessions).execute(kysely);
  console.error(`sums, ${secondsSince(startedAt)}`);
  const insertMs = performance.now() - startedAt;
  await sql`vacuum (analyze) ledger_entries`.execute(kysely);
  await sql`vacuum (analyze) usage_rollups`.execute(kysely);
  await sql`vacuum (analyze) sessions`.execute(kysely);
  await sql`vacuum (analyze) api_keys`.execute(kysely);
  return { ...(await filledAlready(database)), insertMs, now: rows.now };
}

/** Reads the facts of a database that an earlier run has filled. */
export async function filledAlready({ kysely }: Database): Promise<Omit<Filled, "directory" | "databasePath">> {
  const { now } = await kysely
    .selectFrom("ledger_entries")
    .select((eb) => eb.fn.max<number>("at").as("now"))
    .executeTakeFirstOrThrow();
  const sample = await kysely
    .selectFrom("ledger_entries")
    .select(["request_id", "upstream_id", "session", "key_id"])
    .where("workspace_id", "=", workspaceId(0))
    .where("upstream_id", "is not", null)
    .where("session", "is not", null)
    .where("at", "<", now - 10 * dayMs)
    .orderBy("at", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  return {
    workspace: workspaceId(0),
    group: `grp_${String(3).padStart(26, "0")}`,
    key: keyId(workspaces * 40),
    person: personId(workspaces * 40) ?? "",
    session: sample.session ?? "",
    sessionKey: sample.key_id,
    sampleRequest: sample.request_id,
    sampleUpstream: sample.upstream_id ?? "",
    insertMs: 0,
    now,
  };
}

/** Runs `count` tasks with limited concurrency. */
async function atOnce(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: fillers }, worker));
}

function secondsSince(startedAt: number): string {
  return `${Math.round((performance.now() - startedAt) / 1_000)} s`;
}

/** Indexes are recreated at the end, which is ten times faster than updating them during inserts. */
async function dropIndexes({ kysely }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes where tablename = 'ledger_entries'`.execute(
    kysely,
  );
  await sql`alter table ledger_entries drop constraint ledger_entries_pk`.execute(kysely);
  const others = rows.filter(({ name }) => name !== "ledger_entries_pk");
  for (const { name } of others) await sql`drop index ${sql.ref(name)}`.execute(kysely);
  const key = "alter table ledger_entries add constraint ledger_entries_pk primary key (at, attempt_id)";
  return [key, ...others.map(({ definition }) => definition.replace(" ON ONLY ", " ON "))];
}

/** A number in [0, 1), the same for the same row and purpose. */
const share = (row: string, seed: number) =>
  `((hashint8extended(${row}, ${seed}) & 4294967295) / 4294967296.0::float8)`;
const unequal = (part: string, count: number) =>
  `least(${count - 1}, floor(power(${count}, ${part}) - 1 + ${part}))::int`;
const padded = (prefix: string, number: string) => `'${prefix}' || lpad((${number})::text, 26, '0')`;
const named = (n: string, kind: string) =>
  `'${kind}' || lpad(upper(to_hex(at)), 12, '0') || lpad(to_hex(${n}), 14, '0')`;

function entriesOf({ entries, keys, days, now }: Rows, from: number, to: number): string {
  const stepMs = (days * 86_400_000) / entries;
  const status =
    "case outcome when 'succeeded' then 200 when 'cancelled' then 499 else (array[502, 429, 504, 502])[n % 4 + 1] end";
  const error = `case when outcome = 'succeeded' then null when outcome = 'cancelled' then 'client_closed' when n % 45000 = 11 then 'upstream_truncated'
      else (array['upstream_error', 'upstream_error', 'upstream_timeout', 'upstream_unreachable'])[n % 4 + 1] end`;
  const upstreamId =
    "case when endpoint = 'responses' and outcome = 'succeeded' then 'resp_' || to_hex(hashint8(n)) || n end";
  const firstToken = "case when outcome = 'succeeded' then total_ms / 4 end";
  const rawUsage = `'{"prompt_tokens":' || input || ',"completion_tokens":' || output || ',"prompt_tokens_details":{"cached_tokens":0}}'`;
  const micros = (ms: string) => `round((${ms}) * 1000)::bigint`;
  const columns: Readonly<Record<string, string>> = {
    at: "at",
    attempt_id: named("n", "att_"),
    ended_at: "at + total_ms::bigint",
    request_id: named("n", "req_"),
    workspace_id: padded("ws_", "workspace"),
    group_id: padded("grp_", `workspace * ${groupsEach} + (key / ${workspaces}) % ${groupsEach}`),
    key_id: padded("key_", "key"),
    person_id: "person_id",
    session: "session_id",
    model: "model",
    provider: "provider",
    outcome: "outcome",
    http_status: status,
    error_code: error,
    total_ms: "total_ms",
    upstream_id: upstreamId,
  };
  // In the format of journal-record.ts.
  const intent = [
    ...["attempt_id", "request_id", "at", "workspace_id", "group_id", "key_id", "model"].map((name) => columns[name]),
    ...["model", "provider", "'dep_' || provider || '_' || model", "'vendor/' || model", "endpoint"],
    ...["'openai-chat'", "'openai-chat'", "n % 3 <> 0", "0", "null", "input", "5000000"],
    ...["user_agent", "case when team is null then '{}'::jsonb else jsonb_build_object('team', team) end", "1000"],
    ...["null", "null", "person_id", "null", "session_id", "case when session_id is not null then 'agent' end"],
  ];
  const settlement = [
    ...["attempt_id", "ended_at", "outcome", "http_status", "error_code"].map((name) => columns[name]),
    "jsonb_build_array(input, case when n % 4 = 0 then 2000 else 0 end, 0, 0, output)",
    ...["'upstream'", rawUsage, "input * 1250 + output * 10000"],
    ...["total_ms", "total_ms / 5", firstToken, "total_ms - 1", "0.4"].map(micros),
    ...[upstreamId, "200"],
  ];
  const array = (values: readonly (string | undefined)[]) => `jsonb_build_array(${values.join(", ")})`;
  return `
    insert into ledger_entries (${Object.keys(columns).join(", ")}, record)
    select ${Object.values(columns).join(", ")}, ${array([array(intent), array(settlement)])}
    from (
      select *, case when key % 3 <> 0 then ${padded("usr_", `key % ${people}`)} end as person_id from (
      select *, floor(5000 * ${share("n", 1)})::bigint as input,
        case when outcome = 'succeeded' then floor(900 * ${share("n", 2)})::bigint else 0 end as output,
        workspace + ${workspaces} * ${unequal(share("session", 3), Math.max(1, Math.floor(keys / workspaces)))} as key
      from (
        select *, (${now} - (${entries} - n) * ${stepMs}::float8)::bigint as at,
          case when ${share("session", 4)} < 0.5 then 0 else ${unequal(share("session", 5), workspaces)} end as workspace,
          case when n % 40000 = 7 then 'bench-rare' else 'model-' || ${unequal(share("session", 6), 40)} end as model,
          case when n % 50000 = 9 then 'provider-rare' else 'provider-' || ${unequal(share("session", 7), 10)} end as provider,
          (array[${userAgents.map((each) => `'${each}'`).join(", ")}])[${unequal(share("session", 12), userAgents.length)} + 1] as user_agent,
          case when ${unequal(share("session", 13), 3)} > 0 then 'team-' || ${unequal(share("session", 14), 12)} end as team,
          case when ${share("session", 15)} < 0.5 then 'session-' || session end as session_id,
          (array['chat', 'messages', 'responses', 'embeddings', 'images'])[${unequal(share("session", 8), 5)} + 1] as endpoint,
          case when n % 45000 = 11 or ${share("n", 9)} < 0.035 then 'failed' when ${share("n", 9)} < 0.05 then 'cancelled' else 'succeeded' end as outcome,
          1500 * exp(2.2 * (${share("n", 10)} + ${share("n", 11)} - 1)) * (case when n % 30000 = 13 then 100 else 1 end) as total_ms
        from (select n, n / 2000 * 200 + n % 200 as session from generate_series(${from}::bigint, ${to - 1}::bigint) as n) as rows
      ) as chosen
      ) as keyed
    ) as made`;
}

/** A sketch with one latency, in the format of `latency-sketch.ts`. */
function sketch(ms: string): string {
  const span = `least(516, 102 + ceil(18 * ln(greatest(${ms}, 1) / 50) / ln(2.0::float8)))::int`;
  return `string_agg(case when outcome = 'succeeded' then chr(48 + (${span} >> 6)) || chr(48 + (${span} & 63)) || '1' end, '')`;
}

/** The families of `userAgents`. */
const family = `case ${userAgents.map((each) => `when user_agent = '${each}' then '${userAgentFamily(each)}'`).join(" ")} else 'other' end`;

const sessions = `
  insert into sessions (key_id, session, workspace_id, group_id, person_id, source, agent, models, first_at, last_at, listed,
    ${sessionSums.join(", ")})
  select key_id, session, min(workspace_id), min(group_id), min(person_id), 'agent', min(split_part(user_agent, '/', 1)),
    json_agg(distinct model)::text, min(at), max(at), 1, ${sessionSums.map((sum) => `sum(${sessionEntrySums[sum]})`).join(", ")}
  from ledger where session is not null group by key_id, session`;

const sums = usageTable.map(({ column }) => column);
/** Rollups of the UTC day of a time. */
const rollupsOf = (at: number) => `
  insert into usage_rollups_tail (hour, workspace_id, group_id, key_id, person_id, model, provider, user_agent, endpoint, tags, attempts, requests, succeeded, cancelled, cost_nano_usd,
    ${sums.join(", ")}, call_ms_sketch, call_first_token_ms_sketch, attempt_ms_sketch, attempt_first_token_ms_sketch)
  select at - at % 3600000, workspace_id, group_id, key_id, coalesce(person_id, ''), model, provider, ${family}, endpoint,
    case when tags = '{}' then '' else tags end, count(*), count(*),
    count(*) filter (where outcome = 'succeeded'), count(*) filter (where outcome = 'cancelled'), sum(cost_nano_usd),
    ${sums.map((column) => `sum(${column})`).join(", ")},
    ${["total_ms + 1", "first_token_ms + 1", "total_ms", "first_token_ms"].map((ms) => `coalesce(${sketch(ms)}, '')`).join(", ")}
  from ledger where at >= ${at - (at % dayMs)} and at < ${at - (at % dayMs) + dayMs} group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;
