import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { type LedgerEntry, noUsage } from "../../gateway/src/core/index.ts";
import { createLedgerStore, type Database, migrate, openDatabase } from "../../gateway/src/storage/index.ts";
import { createIds } from "../../gateway/src/system/index.ts";

/** Size of the installation to create, and the number of days of its entries. */
export interface Rows {
  readonly entries: number;
  readonly keys: number;
  readonly days: number;
  /** Unix milliseconds of the newest entry. */
  readonly now: number;
}

/** Values to search for. `rare`: only a few entries match. */
export interface Filled {
  readonly directory: string;
  readonly databasePath: string;
  readonly workspace: string;
  readonly group: string;
  readonly key: string;
  readonly person: string;
  readonly session: string;
  /** The key of that session. */
  readonly sessionKey: string;
  readonly sampleRequest: string;
  readonly sampleUpstream: string;
  readonly insertMs: number;
  readonly now: number;
}

export const rareModel = "bench-rare";
export const rareProvider = "provider-rare";
export const rareError = "upstream_truncated";

export const workspaces = 20;
export const groupsEach = 5;
const batchRows = 500;

/**
 * Creates an installation with the ledger store, so that its rollups and sessions are real, and sums its days. Half of the entries belong
 * to one workspace; models, providers and keys have a realistic skew; one entry in twenty failed. An hour is inserted at a time, without
 * the indexes, which are created again at the end.
 */
export async function fillConsole(directory: string, rows: Rows): Promise<Filled> {
  mkdirSync(directory, { recursive: true });
  const databasePath = join(directory, "sluice.db");
  const database = openDatabase({ path: databasePath });
  try {
    await migrate(database);
    await insertKeys(database, rows);
    const store = createLedgerStore(database);
    const make = entryMaker(rows);
    const startedAt = performance.now();
    const secondsSince = () => `${Math.round((performance.now() - startedAt) / 1_000)} s`;
    let sample: LedgerEntry | null = null;
    let session: LedgerEntry | null = null;
    for (const setting of fillingSettings) await sql.raw(`pragma ${setting}`).execute(database.kysely);
    const indexes = await dropIndexes(database);
    const hourRows = Math.ceil(rows.entries / rows.days / 24);
    for (let done = 0; done < rows.entries; done += hourRows) {
      const batch = Array.from({ length: Math.min(hourRows, rows.entries - done) }, (_, n) => make(done + n));
      await store.insert(batch);
      if (done <= rows.entries / 2) {
        sample = batch.find(isSample) ?? sample;
        session = batch.find((entry) => entry.session !== undefined && entry.workspaceId === workspaceId(0)) ?? session;
      }
      if ((done / hourRows) % 24 === 0) console.error(`${done} entries, ${secondsSince()}`);
    }
    for (const index of indexes) await sql.raw(index).execute(database.kysely);
    const insertMs = performance.now() - startedAt;
    console.error(`indexes, ${secondsSince()}`);
    while ((await store.sumDay(rows.now)) > 0);
    console.error(`sums of days, ${secondsSince()}`);
    while ((await store.sumHours(rows.now)) > 0);
    console.error(`sums of hours, ${secondsSince()}`);
    await sql`pragma journal_mode = wal`.execute(database.kysely);
    return {
      directory,
      databasePath,
      workspace: workspaceId(0),
      group: groupId(0, 3),
      key: keyId(workspaces * 40),
      person: personId(workspaces * 40) ?? "",
      session: session?.session ?? "",
      sessionKey: session?.keyId ?? "",
      sampleRequest: sample?.requestId ?? "",
      sampleUpstream: sample?.upstreamId ?? "",
      insertMs,
      now: rows.now,
    };
  } finally {
    await database.close();
  }
}

/** Nothing is lost if the machine stops: the database is filled again. */
const fillingSettings = ["synchronous = off", "journal_mode = memory", "cache_size = -1048576"];

/** Drops the indexes of the ledger's tables. Resolves to the statements that create them. */
async function dropIndexes({ kysely }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; statement: string }>`
    select name, sql as statement from sqlite_schema
    where type = 'index' and sql is not null and tbl_name in ('ledger_entries', 'usage_rollups', 'sessions')`.execute(
    kysely,
  );
  for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(kysely);
  return rows.map(({ statement }) => statement);
}

/** Whether the entry is in the searched workspace and matches every search. */
function isSample(entry: LedgerEntry): boolean {
  return entry.workspaceId === workspaceId(0) && entry.upstreamId !== null;
}

export const workspaceId = (n: number): string => `ws_${String(n).padStart(26, "0")}`;
const groupId = (workspace: number, n: number): string => `grp_${String(workspace * groupsEach + n).padStart(26, "0")}`;
export const keyId = (n: number): string => `key_${String(n).padStart(26, "0")}`;

/** Two of three keys belong to people. */
export const people = 1_000;
export const personId = (key: number): string | null => (key % 3 === 0 ? null : userId(key % people));
const userId = (n: number): string => `usr_${String(n).padStart(26, "0")}`;

export async function insertKeys({ kysely }: Pick<Database, "kysely">, { keys, now }: Rows): Promise<void> {
  const all = Array.from({ length: workspaces }, (_, n) => n);
  const shared = { limits: "{}", budget: null, managed_by: "console" as const, created_at: now - 400 * 86_400_000 };
  await kysely
    .insertInto("workspaces")
    .values(
      all.map((n) => ({
        id: workspaceId(n),
        slug: `team-${n}`,
        name: `Team ${n}`,
        models: "[]",
        pass_through: "[]",
        enabled: 1,
        ...shared,
      })),
    )
    .execute();
  const groups = all.flatMap((workspace) =>
    Array.from({ length: groupsEach }, (_, n) => ({
      id: groupId(workspace, n),
      workspace_id: workspaceId(workspace),
      name: `group-${n}`,
      models: "[]",
      pass_through: "[]",
      ...shared,
    })),
  );
  await kysely.insertInto("groups").values(groups).execute();
  const createdAt = new Date(shared.created_at).toISOString();
  const users = Array.from({ length: people }, (_, n) => n);
  await kysely
    .insertInto("auth_users")
    .values(
      users.map((n) => ({
        id: userId(n),
        name: "Person",
        email: `person-${n}@example.com`,
        email_verified: true,
        created_at: createdAt,
        updated_at: createdAt,
      })) as never,
    )
    .execute();
  await kysely.transaction().execute(async (transaction) => {
    for (let done = 0; done < keys; done += batchRows) {
      const rows = Array.from({ length: Math.min(batchRows, keys - done) }, (_, n) => keyRow(done + n, shared));
      await transaction.insertInto("api_keys").values(rows).execute();
    }
  });
}

function keyRow(n: number, shared: { limits: string; budget: null; managed_by: "console"; created_at: number }) {
  const workspace = n % workspaces;
  const text = mixed(n).toString(36).padStart(7, "0");
  return {
    id: keyId(n),
    workspace_id: workspaceId(workspace),
    group_id: groupId(workspace, Math.floor(n / workspaces) % groupsEach),
    name: `${["ci", "agent", "service", "laptop", "batch"][n % 5]}-${text}`,
    digest: `digest-${n}`,
    prefix: `sk-sluice-${text.slice(0, 4)}`,
    last_four: text.slice(-4),
    models: null,
    pass_through: "[]",
    allowed_ips: null,
    tags: "{}",
    capture: "none",
    set_by_admins: "",
    service: 0,
    enabled: n % 50 === 0 ? 0 : 1,
    revoked_at: n % 97 === 0 ? shared.created_at : null,
    expires_at: null,
    created_by: null,
    old_digest: null,
    old_until: null,
    owner_id: personId(n),
    ...shared,
    budget: n % 10 === 0 ? JSON.stringify({ nanoUsd: 50_000_000_000, period: n % 20 === 0 ? "month" : "day" }) : null,
  };
}

/** A pseudo-random 32-bit number for each number. */
function mixed(n: number): number {
  return Bun.hash.xxHash32(`row ${n}`);
}

/** A number in [0, 1), the same for the same row and purpose. */
function share(n: number, purpose: string): number {
  return Bun.hash.xxHash32(`${purpose} ${n}`) / 2 ** 32;
}

/** Skewed numbers: the first of a hundred is chosen about a third of the time. */
function unequal(part: number, count: number): number {
  return Math.min(count - 1, Math.floor(count ** part - 1 + part));
}

const endpoints = ["chat", "messages", "responses", "embeddings", "images"] as const;
export const userAgents = [
  "openai-python/2.14.0 (linux; x86_64)",
  "claude-cli/2.0.31 (external, cli)",
  "codex_cli_rs/0.50.0 (Mac OS 15.1; arm64)",
  "Anthropic/Python 0.71.0",
  "OpenAI/JS 6.7.0",
  "curl/8.5.0",
  "GeminiCLI/0.11.0 (linux; x64)",
] as const;
const failures = [
  [502, "upstream_error"],
  [429, "upstream_error"],
  [504, "upstream_timeout"],
  [502, "upstream_unreachable"],
] as const;

function entryMaker({ entries, keys, days, now }: Rows): (n: number) => LedgerEntry {
  const stepMs = (days * 86_400_000) / entries;
  let at = now - days * 86_400_000;
  const ids = createIds({ now: () => at });
  return (n) => {
    at = Math.floor(now - (entries - n) * stepMs);
    return madeEntry(n, at, { attemptId: ids.next("att_"), requestId: ids.next("req_") }, keys);
  };
}

/** Programs call in bursts: 200 at a time, ten calls each with one key to one model. */
function sessionOf(n: number): number {
  return Math.floor(n / 2_000) * 200 + (n % 200);
}

function madeEntry(
  n: number,
  at: number,
  names: Pick<LedgerEntry, "attemptId" | "requestId">,
  keys: number,
): LedgerEntry {
  const session = sessionOf(n);
  const workspace = share(session, "workspace") < 0.5 ? 0 : unequal(share(session, "other"), workspaces);
  const key = workspace + workspaces * unequal(share(session, "key"), Math.max(1, Math.floor(keys / workspaces)));
  const person = personId(key);
  const rare = n % 40_000 === 7;
  const model = rare ? rareModel : `model-${unequal(share(session, "model"), 40)}`;
  const provider = n % 50_000 === 9 ? rareProvider : `provider-${unequal(share(session, "provider"), 10)}`;
  const luck = share(n, "luck");
  const failure = n % 45_000 === 11 ? ([502, rareError] as const) : (failures[n % failures.length] ?? failures[0]);
  const outcome = n % 45_000 === 11 || luck < 0.035 ? "failed" : luck < 0.05 ? "cancelled" : "succeeded";
  const good = outcome === "succeeded";
  const totalMs =
    1_500 * Math.exp(2.2 * (share(n, "latency") + share(n, "latency too") - 1)) * (n % 30_000 === 13 ? 100 : 1);
  const endpoint = endpoints[unequal(share(session, "endpoint"), endpoints.length)] ?? "chat";
  const [input, output] = [Math.floor(5_000 * share(n, "input")), good ? Math.floor(900 * share(n, "output")) : 0];
  return {
    ...names,
    at,
    endedAt: at + Math.round(totalMs),
    workspaceId: workspaceId(workspace),
    groupId: groupId(workspace, Math.floor(key / workspaces) % groupsEach),
    keyId: keyId(key),
    model,
    requestedModel: model,
    provider,
    deployment: `dep_${provider}_${model}`,
    upstreamModel: `vendor/${model}`,
    endpoint,
    callerDialect: "openai-chat",
    upstreamDialect: "openai-chat",
    stream: n % 3 !== 0,
    retryIndex: 0,
    priceVersion: "prc_bench",
    inputEstimate: input,
    reservedNanoUsd: 5_000_000,
    userAgent: userAgents[unequal(share(session, "agent"), userAgents.length)] ?? "",
    tags: unequal(share(session, "tag"), 3) === 0 ? {} : { team: `team-${unequal(share(session, "team"), 12)}` },
    ...(person === null ? {} : { personId: person }),
    // Half of the programs name their sessions.
    ...(share(session, "named") < 0.5 ? { session: `session-${session}`, sessionSource: "agent" as const } : {}),
    outcome,
    httpStatus: good ? 200 : outcome === "cancelled" ? 499 : failure[0],
    errorCode: good ? null : outcome === "cancelled" ? "client_closed" : failure[1],
    usage: { ...noUsage, inputUncached: input, cacheRead: n % 4 === 0 ? 2_000 : 0, output },
    usageSource: "upstream",
    rawUsage: `{"prompt_tokens":${input},"completion_tokens":${output},"total_tokens":${input + output},"prompt_tokens_details":{"cached_tokens":0}}`,
    costNanoUsd: input * 1_250 + output * 10_000,
    totalMs,
    firstByteMs: totalMs / 5,
    firstTokenMs: good ? totalMs / 4 : null,
    upstreamMs: totalMs - 1,
    overheadMs: 0.4,
    startedAfterMs: 1,
    upstreamStatus: 200,
    upstreamId: endpoint === "responses" && good ? `resp_${mixed(n).toString(16).padStart(8, "0")}${n}` : null,
  };
}
