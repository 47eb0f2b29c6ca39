import type { AnswerOf, RequestSession, SessionRequest } from "@sluice/contract/console";
import { type SessionSort, sessionAgentsMax } from "@sluice/contract/words";
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { Failure, type LedgerEntry, nanoToUsd, type Usage, usageClassColumns } from "#core/index.ts";
import type { Paged, SessionAgentFilter, SessionFilter, SessionPlace } from "#ports/index.ts";
import { beginsWith, equalsGiven } from "../database/conditions.ts";
import { cursorOf, cursorOfText, cutPage, isAfter, parseCursor } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { sumTools } from "../explain/captured-tools.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import { severalPeople } from "../ledger/session-sums.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";
import { namesOf } from "./report-names.ts";
import { requestRowOf } from "./report-requests.ts";
import { capturedTools } from "./report-session-tools.ts";

/** Sessions that one question reads: the latest ones that match. */
const sessionsReadMax = 200_000;
/** Entries that are counted for the position of a request in its session. */
const positionMax = 10_000;

type SessionRow = Row<"sessions">;

/** One page of sessions. Any order applies to all that were read. */
export async function sessionPage(
  context: ReportContext,
  filter: SessionFilter,
  cursor: string | null,
  limit: number,
): Promise<AnswerOf<"sessions.list">> {
  return await inOneSnapshot(
    context,
    async (snapshot) => {
      const found = filter.search === undefined ? null : await fewSessions(snapshot, filter);
      const whole = found ?? matching(snapshot, filter);
      const all = await totalsOf(snapshot, whole.limit(sessionsReadMax + 1));
      const truncated = all.sessions > sessionsReadMax;
      // Sorting by time takes longest, and is not needed if all matches are read.
      const read = truncated ? latest(snapshot, filter) : whole;
      const totals = truncated ? await totalsOf(snapshot, read) : all;
      snapshot.deadline.check();
      const rows = await orderedRows(snapshot, read, filter.sort, cursor, limit + 1);
      const { page, next } = cutPage(rows, limit, (last) => cursorOfRow(last, filter.sort));
      return { data: await shownSessions(snapshot, page), next, totals, truncated };
    },
    { byIndex: true },
  );
}

const summed = [
  "requests",
  "turns",
  "errors",
  "input_tokens",
  "cache_read_tokens",
  "output_tokens",
  "cost_nano_usd",
] as const;

/** The columns of the indexes of listed sessions: nothing else is read to sort them and add them up. */
const read = ["last_at", "key_id", "session", ...summed] as const;

/** The latest sessions that match. */
function latest(context: ReportContext, filter: Omit<SessionFilter, "sort">) {
  return matching(context, filter).orderBy("last_at", "desc").limit(sessionsReadMax);
}

const fewMax = 1_000;

/** The sessions that a search finds by reading all sessions once; null: more than a few. */
async function fewSessions(context: ReportContext, filter: Omit<SessionFilter, "sort">): Promise<Sessions | null> {
  const { connection } = context;
  const sessions = matching(context, filter).limit(fewMax + 1);
  const found = await connection.selectFrom(sessions.as("found")).select(["key_id", "session"]).execute();
  if (found.length > fewMax) return null;
  return connection.selectFrom("sessions").select(read).where(isOneOf(found));
}

function isOneOf(places: readonly Pick<SessionRow, "key_id" | "session">[]): RawBuilder<SqlBool> {
  if (places.length === 0) return sql<SqlBool>`1 = 0`;
  const values = places.map(({ key_id, session }) => sql`(${key_id}, ${session})`);
  return sql<SqlBool>`(key_id, session) in (values ${sql.join(values)})`;
}

/** All sessions that match. */
function matching({ connection, flavour }: ReportContext, filter: Omit<SessionFilter, "sort">) {
  const { workspaceId, from, to, model, search, visiblePerson } = filter;
  let query = connection
    .selectFrom("sessions")
    .select(read)
    .where("listed", "=", sql.lit(1))
    .where((eb) =>
      eb.and(
        equalsGiven<SessionRow>({
          workspace_id: workspaceId ?? undefined,
          key_id: filter.keyId,
          person_id: filter.personId,
          agent: filter.agent,
        }),
      ),
    );
  if (from !== undefined) query = query.where("last_at", ">=", from);
  if (to !== undefined) query = query.where("first_at", "<", to);
  if (search !== undefined) query = query.where((eb) => beginsWith(eb.ref("session"), search));
  if (model !== undefined) {
    const at = sql.raw(flavour.name === "postgres" ? "strpos" : "instr");
    query = query.where(sql<SqlBool>`${at}(models, ${JSON.stringify(model)}) > 0`);
  }
  if (visiblePerson !== undefined)
    query = query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
  return query;
}

const sortedBy = { last_at: "last_at", cost_usd: "cost_nano_usd", turns: "turns", errors: "errors" } as const;
type SortName = keyof typeof sortedBy;

type Sessions = ReturnType<typeof matching>;

async function orderedRows(
  { connection }: ReportContext,
  sessions: Sessions,
  sort: SessionSort,
  cursor: string | null,
  limit: number,
): Promise<readonly SessionRow[]> {
  const isDescending = sort.startsWith("-");
  const column = sortedBy[sort.replace(/^-/, "") as SortName];
  const order = sql.raw(isDescending ? "desc" : "asc");
  const after = cursor === null ? null : parseSessionCursor(cursor, sort);
  const beyond = sql.raw(isDescending ? "<" : ">");
  const rest: RawBuilder<unknown> =
    after === null
      ? sql``
      : sql`where (${sql.ref(column)}, key_id, session) ${beyond} (${after.value}, ${after.keyId}, ${after.session})`;
  const found = await sql<Pick<SessionRow, "key_id" | "session">>`
    select key_id, session from (${sessions}) as matching ${rest}
    order by ${sql.ref(column)} ${order}, key_id ${order}, session ${order} limit ${limit}`.execute(connection);
  if (found.rows.length === 0) return [];
  const rows = await connection.selectFrom("sessions").selectAll().where(isOneOf(found.rows)).execute();
  const byPlace = new Map(rows.map((row) => [placeName(row), row]));
  return found.rows.flatMap((place) => byPlace.get(placeName(place)) ?? []);
}

function placeName({ key_id, session }: Pick<SessionRow, "key_id" | "session">): string {
  return `${key_id}\n${session}`;
}

async function totalsOf({ connection }: ReportContext, sessions: Sessions) {
  const sums = sql.raw(summed.map((column) => `coalesce(sum(${column}), 0) as ${column}`).join(", "));
  const { rows } = await sql<Record<(typeof summed)[number] | "sessions", number>>`
    select count(*) as sessions, ${sums} from (${sessions}) as matching`.execute(connection);
  const [row] = rows;
  if (row === undefined) throw new Error("A sum has one row.");
  const figures = Object.fromEntries(summed.map((column) => [column, Number(row[column])])) as Pick<
    SessionRow,
    (typeof summed)[number]
  >;
  return { sessions: Number(row.sessions), ...sumsOf(figures) };
}

function sumsOf(row: Pick<SessionRow, (typeof summed)[number]>) {
  const { requests, turns, errors, input_tokens, cache_read_tokens, output_tokens } = row;
  return {
    ...{ requests, turns, errors, input_tokens, cache_read_tokens, output_tokens },
    cache_read_share: input_tokens === 0 ? null : cache_read_tokens / input_tokens,
    cost_usd: nanoToUsd(row.cost_nano_usd),
  };
}

export async function sessionAgents(
  context: ReportContext,
  filter: SessionAgentFilter,
): Promise<AnswerOf<"sessions.agents">["data"]> {
  const sessions = latest(context, filter).select("agent");
  const { rows } = await sql<{ agent: string; sessions: number }>`
    select agent, count(*) as sessions from (${sessions}) as matching where agent <> ''
    group by agent order by sessions desc, agent limit ${sql.lit(sessionAgentsMax)}`.execute(context.connection);
  return rows.map(({ agent, sessions }) => ({ agent, sessions: Number(sessions) }));
}

async function shownSessions({ connection }: ReportContext, rows: readonly SessionRow[]): Promise<RequestSession[]> {
  const owners = rows.map((row) => ({
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    personId: row.person_id === null || row.person_id === severalPeople ? undefined : row.person_id,
  }));
  const names = await namesOf(connection, owners);
  return rows.map((row, index) => {
    const personId = owners[index]?.personId;
    const { session, agent, first_at, last_at, cache_write_tokens } = row;
    return {
      ...{ session, agent, first_at, last_at, cache_write_tokens },
      source: row.source as RequestSession["source"],
      workspace: names.workspace(row.workspace_id),
      key: names.key(row.key_id),
      group: names.group(row.group_id),
      person: personId === undefined ? null : names.person(personId),
      models: JSON.parse(row.models) as string[],
      ...sumsOf(row),
    };
  });
}

/** The session of a key, if the viewer may see it. */
async function visibleRow(
  { connection }: ReportContext,
  { workspaceId, visiblePerson, keyId, session }: SessionPlace,
): Promise<SessionRow | null> {
  const row = await connection
    .selectFrom("sessions")
    .selectAll()
    .where("key_id", "=", keyId)
    .where("session", "=", session)
    .executeTakeFirst();
  if (row === undefined || (workspaceId !== null && row.workspace_id !== workspaceId)) return null;
  return visiblePerson === undefined || row.person_id === null || row.person_id === visiblePerson ? row : null;
}

export async function sessionDetail(context: ReportContext, place: SessionPlace): Promise<RequestSession | null> {
  const row = await visibleRow(context, place);
  if (row === null) return null;
  const [session] = await shownSessions(context, [row]);
  return session ?? null;
}

export async function sessionRequests(
  context: ReportContext,
  place: SessionPlace,
  cursor: string | null,
  limit: number,
): Promise<Paged<SessionRequest> | null> {
  const row = await visibleRow(context, place);
  if (row === null) return null;
  let query = entriesOf(context, row).select(["at", "attempt_id", "record"]).orderBy("at").orderBy("attempt_id");
  if (cursor !== null) query = query.where(isAfter(["at", "attempt_id"], parseCursor(cursor), "oldest first"));
  const rows = await query.limit(limit + 1).execute();
  const { page, next } = cutPage(rows, limit, (last) => cursorOf({ at: last.at, id: last.attempt_id }));
  const entries = page.map(storedEntry);
  const names = await namesOf(context.connection, entries);
  const ids = entries.map(({ requestId }) => requestId);
  const tools = ids.length === 0 ? null : await capturedTools(context, row.key_id, ids);
  const data = entries.map((entry) => ({
    ...requestRowOf(entry, names),
    ...usedIn(entry),
    tools: [...(tools?.get(entry.requestId) ?? [])],
  }));
  return { data, next };
}

export async function sessionTools(
  context: ReportContext,
  place: SessionPlace,
): Promise<AnswerOf<"sessions.tools"> | null> {
  const row = await visibleRow(context, place);
  if (row === null) return null;
  const captured = await capturedTools(context, row.key_id, entriesOf(context, row).select("request_id"));
  return { data: [...sumTools([...captured.values()].flat())], captured_requests: captured.size };
}

/** Entries of a session. The times let PostgreSQL skip months without them. */
function entriesOf(
  { connection }: ReportContext,
  row: SessionRow,
): SelectQueryBuilder<Tables, "ledger_entries", object> {
  return connection
    .selectFrom("ledger_entries")
    .where("key_id", "=", row.key_id)
    .where("session", "=", row.session)
    .where("at", ">=", row.first_at)
    .where("at", "<=", row.last_at);
}

function usedIn({ usage }: LedgerEntry): Pick<SessionRequest, "cache_read_tokens" | "tool_calls"> {
  const used = toolClasses.filter((name) => usage[name] > 0);
  return {
    cache_read_tokens: usage.cacheRead + usage.cacheReadAudio,
    tool_calls: Object.fromEntries(used.map((name) => [usageClassColumns[name], usage[name]])),
  };
}

const toolClasses = ["webSearches", "fileSearches", "mapSearches", "codeSessions"] as const satisfies (keyof Usage)[];

export async function requestSession(
  context: ReportContext,
  { workspaceId, visiblePerson }: Pick<SessionPlace, "workspaceId" | "visiblePerson">,
  requestId: string,
): Promise<AnswerOf<"requests.session">> {
  const own = await context.connection
    .selectFrom("ledger_entries")
    .select(["at", "attempt_id as id", "key_id", "session"])
    .where("request_id", "=", requestId)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(1)
    .executeTakeFirst();
  if (own === undefined || own.session === null) return noSession;
  const row = await visibleRow(context, { workspaceId, visiblePerson, keyId: own.key_id, session: own.session });
  if (row === null || row.listed === 0) return noSession;
  const others = () => entriesOf(context, row).select(["request_id", "at"]).where("request_id", "!=", requestId);
  const previous = await others()
    .where(isAfter(["at", "attempt_id"], own))
    .orderBy("at", "desc")
    .orderBy("attempt_id", "desc")
    .limit(1)
    .executeTakeFirst();
  const next = await others()
    .where(isAfter(["at", "attempt_id"], own, "oldest first"))
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(1)
    .executeTakeFirst();
  const before = entriesOf(context, row)
    .select("request_id")
    .where(isAfter(["at", "attempt_id"], own))
    .limit(positionMax);
  const counted = await sql<{ entries: number; requests: number }>`
    select count(*) as entries, count(distinct request_id) as requests from (${before}) as before`.execute(
    context.connection,
  );
  const { entries = 0, requests = 0 } = counted.rows[0] ?? {};
  const [session] = await shownSessions(context, [row]);
  return {
    session: session ?? null,
    position: Number(entries) >= positionMax ? null : Number(requests) + 1,
    previous: previous ?? null,
    next: next ?? null,
  };
}

const noSession: AnswerOf<"requests.session"> = { session: null, position: null, previous: null, next: null };

interface SessionPosition {
  readonly value: number;
  readonly keyId: string;
  readonly session: string;
}

function cursorOfRow(row: SessionRow, sort: SessionSort): string {
  const value = row[sortedBy[sort.replace(/^-/, "") as SortName]];
  return cursorOfText(JSON.stringify([sort, value, row.key_id, row.session]));
}

/** Throws Failure invalid_request. */
function parseSessionCursor(cursor: string, sort: SessionSort): SessionPosition {
  try {
    const parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as readonly unknown[];
    const [given, value, keyId, session] = parts;
    if (given === sort && Number.isSafeInteger(value) && typeof keyId === "string" && typeof session === "string")
      return { value: value as number, keyId, session };
  } catch {
    // Reported below.
  }
  throw new Failure("invalid_request", "Invalid cursor: it is not from this list in this order.", { param: "cursor" });
}
