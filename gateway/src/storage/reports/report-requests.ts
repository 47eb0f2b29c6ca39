import type { AttemptDetail, RequestRow } from "@sluice/contract/console";
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import {
  bounds,
  chargedPrices,
  inputClasses,
  type LedgerEntry,
  nanoToUsd,
  outputClasses,
  type PriceTable,
  pricedClasses,
  usageClassColumns,
  usageClasses,
  usdToNano,
} from "#core/index.ts";
import type { RequestAttempts, RequestFilter, RequestPage } from "#ports/index.ts";
import { beginsWith, contains, equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import type { Connection, Flavour } from "../database/database.ts";
import { cursorOf, isAfter, type PagePosition, parseCursor } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { shownFields, storedEntry } from "../ledger/ledger-columns.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";
import { foldedMatches, foldedRequest } from "./report-folded.ts";
import { type Names, namesOf } from "./report-names.ts";
import { pendingOf, pendingPage } from "./report-pending.ts";
import { type RareHours, rareHours } from "./report-rare.ts";
import { checkConditions, checkMarks, entriesWithChecks, wouldBeRefused } from "./report-request-checks.ts";
import { idsBeginningWith, reportScanMs, type SlicedList, slicedPage } from "./report-search.ts";

type Terms = ExpressionBuilder<Tables, "ledger">;
type Condition = Expression<SqlBool>;

/**
 * Attempts, newest first. For a key, only hours are searched in which the rollups contain it; otherwise the index of the workspace, or the
 * table, is read in order. A page may be short if matches are rare, see `slicedPage`.
 */
export async function requestPage(
  context: ReportContext,
  filter: RequestFilter,
  cursor: string | null,
  limit: number,
): Promise<RequestPage> {
  const { connection } = context;
  const place = cursor === null ? lastPlace : parseCursor(cursor);
  const start = filter.to !== undefined && filter.to <= place.at ? { at: filter.to, id: "" } : place;
  // Read first: a response that completes meanwhile is then in both, not in neither.
  const pending = await pendingPage(connection, filter, start, limit);
  const stored = filter.outcome === "pending" ? emptyPage : await entriesPage(context, filter, start, limit);
  const folded = { entries: await foldedMatches(connection, filter, start), next: null };
  const { entries, next } = mergePages(mergePages(stored, pending, limit), folded, limit);
  const data = await requestRows(connection, entries);
  return {
    data,
    next: next === null ? null : cursorOf(next),
    searchedFrom: next !== null && data.length < limit ? next.at : null,
  };
}

export async function requestRows(
  connection: Connection,
  entries: readonly LedgerEntry[],
): Promise<readonly RequestRow[]> {
  const names = await namesOf(connection, entries);
  const marksOf = await checkMarks(connection, entries);
  return entries.map((entry) => ({ ...requestRowOf(entry, names), ...marksOf(entry) }));
}

/** `next`: how far everything that matches was read; null: to the end. */
interface ReadPage {
  readonly entries: readonly LedgerEntry[];
  readonly next: PagePosition | null;
}

type StoredRow = Pick<Row<"ledger">, "at" | "attempt_id" | "record">;

const emptyPage: ReadPage = { entries: [], next: null };

async function entriesPage(
  context: ReportContext,
  filter: RequestFilter,
  start: PagePosition,
  limit: number,
): Promise<ReadPage> {
  const startedAt = performance.now();
  const list = await entryList(context, filter);
  const read = async (after: PagePosition, end: PagePosition | null, size: number) =>
    (await newestOf(list.matching(after, end), size)?.execute()) ?? [];
  const placeOf = (row: StoredRow) => ({ at: row.at, id: row.attempt_id });
  const { positionAfter } = list;
  const sliced = { positionAfter, matching: read, placeOf };
  const mayBeRare = filter.keyId === undefined && (filter.search ?? "") === "";
  const first = await slicedPage<PagePosition, StoredRow>(
    sliced,
    start,
    limit,
    context.deadline,
    mayBeRare ? 0 : undefined,
  );
  const entries = first.rows.map(storedEntry);
  if (!mayBeRare || first.next === null || entries.length >= limit) return { entries, next: first.next };
  const rest = limit - entries.length;
  const hours = await rareHours(context, filter, first.next);
  const later = await slicedPage<PagePosition, StoredRow>(
    hours === null ? sliced : rareList(context, filter, hours, read),
    first.next,
    rest,
    context.deadline,
    Math.max(reportScanMs / 2, reportScanMs - (performance.now() - startedAt)),
  );
  // Before the first of these hours, the search continues in slices.
  const isOver = hours === null || (await isFirst(context.connection, filter, hours.from));
  const next = later.next ?? (isOver ? null : { at: hours.from, id: "" });
  return { entries: [...entries, ...later.rows.map(storedEntry)], next };
}

type Matching = ReturnType<Awaited<ReturnType<typeof entryList>>["matching"]>;

function newestOf(matching: Matching, size: number) {
  return matching
    ?.select(["at", "attempt_id", "record"])
    .orderBy("at", "desc")
    .orderBy("attempt_id", "desc")
    .limit(size);
}

/** The entries of a filter in the hours that have matches; see `rareHours`. */
function rareList(
  { connection, flavour }: ReportContext,
  filter: RequestFilter,
  hours: RareHours,
  readAll: (after: PagePosition, end: PagePosition | null, size: number) => Promise<readonly StoredRow[]>,
): SlicedList<PagePosition, StoredRow> {
  return {
    async positionAfter(after) {
      const hour = hours.before(after);
      return hour === null ? null : { at: hour, id: "" };
    },
    async matching(after, end, size) {
      if (end === null) return [];
      const places = await hours.placesIn(end.at, after);
      const within = { at: Math.min(after.at, end.at + hourMs), id: after.at < end.at + hourMs ? after.id : "" };
      if (places === null) return await readAll(within, { at: Math.max(end.at, filter.from ?? 0), id: "" }, size);
      const matching = connection
        .selectFrom("ledger")
        .where(isOneOf(places))
        .where(isAfter(["at", "attempt_id"], after))
        .where((eb) => eb.and(conditions(eb, flavour, filter, null)));
      return (await newestOf(matching, size)?.execute()) ?? [];
    },
    placeOf: (row) => ({ at: row.at, id: row.attempt_id }),
  };
}

/** Whether the list has no entry before a time. */
async function isFirst(connection: Connection, { workspaceId, from = 0 }: RequestFilter, at: number): Promise<boolean> {
  if (at <= from) return true;
  let earlier = connection.selectFrom("ledger_entries").select("at").where("at", "<", at).where("at", ">=", from);
  if (workspaceId !== null) earlier = earlier.where("workspace_id", "=", workspaceId);
  return (await earlier.limit(1).executeTakeFirst()) === undefined;
}

/** The entries of a filter from the newest on, to be read in slices. */
export async function entryList({ connection, flavour }: ReportContext, filter: RequestFilter) {
  const { keyId, workspaceId, search = "" } = filter;
  const ids =
    search === ""
      ? await entriesWithChecks(connection, filter)
      : await idsBeginningWith(connection, workspaceId, search);
  const lowest = filter.from ?? 0;
  const from = (after: PagePosition) =>
    connection
      .selectFrom("ledger")
      .where((eb) => eb.and(indexed(eb, filter, ids)))
      .where(isAfter(["at", "attempt_id"], after));
  return {
    start: filter.to === undefined ? lastPlace : { at: filter.to, id: "" },
    async positionAfter(after: PagePosition, entries: number): Promise<PagePosition | null> {
      if (ids !== null) return null;
      if (keyId !== undefined) return await lastHourOf(connection, keyId, after, lowest);
      // Answered by the index alone, without reading entries.
      const end = await from(after)
        .select(["at", "attempt_id as id"])
        .where("at", ">=", lowest)
        .orderBy("at", "desc")
        .orderBy("attempt_id", "desc")
        .limit(1)
        .offset(entries - 1)
        .executeTakeFirst();
      return end ?? null;
    },
    /** The matches after `after`, up to and including `end`; null: to the end of the list. undefined: there are none. */
    matching(after: PagePosition, end: PagePosition | null) {
      // Before its first hour, the key has no entries.
      if (keyId !== undefined && ids === null && end === null) return undefined;
      const query = from(after)
        .where((eb) =>
          end === null ? eb("at", ">=", lowest) : eb(eb.refTuple("at", "attempt_id"), ">=", eb.tuple(end.at, end.id)),
        )
        .where((eb) => eb.and([...unindexed(eb, filter, ids), ...conditions(eb, flavour, filter, ids)]));
      return keyId !== undefined && end !== null
        ? query.where("at", ">=", lowest).where("at", "<", end.at + hourMs)
        : query;
    },
  };
}

/** The entries of these requests that match, newest first. */
export function entriesWith(
  connection: Connection,
  flavour: Flavour,
  filter: RequestFilter,
  requestIds: readonly string[],
) {
  const { workspaceId, keyId } = filter;
  let query = connection
    .selectFrom("ledger")
    .select("record")
    .where("request_id", "in", requestIds)
    .where((eb) => eb.and(conditions(eb, flavour, filter, null)))
    .orderBy("at", "desc")
    .orderBy("attempt_id", "desc")
    .limit(bounds.listPageMax);
  if (workspaceId !== null) query = query.where((eb) => equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
  if (keyId !== undefined) query = query.where((eb) => equalsWithoutIndex(eb.ref("key_id"), keyId));
  return query;
}

/** The newest hour in which the key was used, up to a position. */
async function lastHourOf(
  connection: Connection,
  keyId: string,
  after: PagePosition,
  lowest: number,
): Promise<PagePosition | null> {
  const { hour } = await connection
    .selectFrom("usage_rollups")
    .select((eb) => eb.fn.max<number | null>("hour").as("hour"))
    .where("key_id", "=", keyId)
    // The cursor is at the start of an hour, so nothing of that hour is left.
    .where("hour", "<", after.id === "" ? after.at : after.at + 1)
    .where("hour", ">", lowest - hourMs)
    .executeTakeFirstOrThrow();
  return hour === null ? null : { at: hour, id: "" };
}

/** Merges entries from other tables into a page of the ledger. */
function mergePages(stored: ReadPage, others: ReadPage, limit: number): ReadPage {
  const ids = new Set(stored.entries.map(({ attemptId }) => attemptId));
  const all = [...stored.entries, ...others.entries.filter(({ attemptId }) => !ids.has(attemptId))];
  const ends = [stored.next, others.next].filter((next) => next !== null);
  const end = ends.toSorted(newestFirst)[0] ?? null;
  const records = all
    .filter((entry) => end === null || newestFirst(placeOf(entry), end) <= 0)
    .toSorted((one, other) => newestFirst(placeOf(one), placeOf(other)));
  const entries = records.slice(0, limit);
  const last = entries.length < records.length ? entries.at(-1) : undefined;
  return { entries, next: last === undefined ? end : placeOf(last) };
}

function placeOf({ at, attemptId }: LedgerEntry): PagePosition {
  return { at, id: attemptId };
}

function newestFirst(one: PagePosition, other: PagePosition): number {
  return other.at - one.at || (one.id === other.id ? 0 : one.id > other.id ? -1 : 1);
}

export function requestRowOf(entry: LedgerEntry, names: Names): RequestRow {
  const { personId, actorId, usage } = entry;
  return {
    ...shownFields("list", entry),
    workspace: names.workspace(entry.workspaceId),
    key: names.key(entry.keyId),
    group: names.group(entry.groupId),
    person: personId === undefined ? null : names.person(personId),
    actor: actorId === undefined ? null : names.person(actorId),
    input_tokens: inputClasses.reduce((sum, name) => sum + usage[name], 0),
    output_tokens: outputClasses.reduce((sum, name) => sum + usage[name], 0),
    cost_usd: nanoToUsd(entry.costNanoUsd),
    held_usd: entry.outcome === "pending" ? nanoToUsd(entry.reservedNanoUsd) : null,
  };
}

const lastPlace: PagePosition = { at: Number.MAX_SAFE_INTEGER, id: "" };

/** The filters that choose the index. */
function indexed(eb: Terms, { keyId, workspaceId }: RequestFilter, ids: readonly PagePosition[] | null): Condition[] {
  if (ids !== null) return [isOneOf(ids)];
  if (keyId !== undefined)
    return [eb("key_id", "=", keyId), ...(workspaceId === null ? [] : [eb("workspace_id", "=", workspaceId)])];
  return workspaceId === null ? [] : [eb("workspace_id", "=", workspaceId)];
}

export function isOneOf(places: readonly PagePosition[]): Condition {
  if (places.length === 0) return sql<SqlBool>`1 = 0`;
  const values = places.map(({ at, id }) => sql`(cast(${at} as bigint), ${id})`);
  return sql<SqlBool>`(at, attempt_id) in (values ${sql.join(values)})`;
}

/** Filters that are checked for every entry, even if another index is read. */
function unindexed(eb: Terms, { keyId, workspaceId }: RequestFilter, ids: readonly PagePosition[] | null): Condition[] {
  const terms: Condition[] = [];
  if (ids !== null && workspaceId !== null) terms.push(equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
  if (ids !== null && keyId !== undefined) terms.push(equalsWithoutIndex(eb.ref("key_id"), keyId));
  return terms;
}

/** The search conditions for entries. */
function conditions(
  eb: Terms,
  flavour: Flavour,
  filter: RequestFilter,
  ids: readonly PagePosition[] | null,
): Condition[] {
  const { search = "", outcome, visiblePerson, minMs, minCostUsd, maxCostUsd, tag, userAgent } = filter;
  const terms: Condition[] = [
    ...equalsGiven<Row<"ledger">>({
      model: filter.model,
      provider: filter.provider,
      group_id: filter.groupId,
      person_id: filter.personId,
      endpoint: filter.endpoint,
      http_status: filter.status,
      error_code: filter.errorCode,
    }),
  ];
  if (visiblePerson !== undefined)
    terms.push(eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
  if (outcome === "unsuccessful") terms.push(eb("outcome", "!=", "succeeded"));
  else if (outcome !== undefined) terms.push(eb("outcome", "=", outcome));
  if (minMs !== undefined) terms.push(sql<SqlBool>`(total_ms + started_after_ms) >= ${minMs}`);
  if (minCostUsd !== undefined) terms.push(eb("cost_nano_usd", ">=", usdToNano(minCostUsd)));
  if (maxCostUsd !== undefined) terms.push(eb("cost_nano_usd", "<=", usdToNano(maxCostUsd)));
  if (tag !== undefined) terms.push(hasTag(eb, flavour, tag));
  if (userAgent !== undefined) terms.push(contains(eb.ref("user_agent"), userAgent));
  terms.push(...checkConditions("ledger.request_id", filter));
  if (filter.wouldRefuse === true) terms.push(wouldBeRefused());
  if (search !== "" && ids === null) {
    const columns = ["attempt_id", "request_id", "upstream_id"] as const;
    terms.push(eb.or(columns.map((column) => beginsWith(eb.ref(column), search))));
  }
  return terms;
}

/** Names of tags may contain anything, so they are compared instead of being put into a JSON path. */
function hasTag(eb: Terms, { name }: Flavour, tag: NonNullable<RequestFilter["tag"]>): Condition {
  if (name === "postgres") {
    const tags = sql`(${eb.ref("record")} #> '{0,20}')`;
    return tag.value === undefined
      ? sql<SqlBool>`jsonb_exists(${tags}, ${tag.name})`
      : sql<SqlBool>`${tags} ->> ${tag.name} = ${tag.value}`;
  }
  const value = tag.value === undefined ? sql`` : sql`and tag.value = ${tag.value}`;
  return sql<SqlBool>`exists (select 1 from json_each(${eb.ref("record")}, '$[0][20]') as tag where tag.key = ${tag.name} ${value})`;
}

export async function attemptsOf(
  context: ReportContext,
  workspaceId: string | null,
  requestId: string,
): Promise<RequestAttempts> {
  const stored = await entriesOf(context.connection, workspaceId, requestId);
  if (stored.length > 0) return { attempts: await detailsOf(context, stored), countedIn: null };
  const folded = await foldedRequest(context.connection, workspaceId, requestId);
  if (folded === null) return { attempts: [], countedIn: null };
  const [together] = await entriesOf(context.connection, workspaceId, folded.countedIn);
  return {
    attempts: await detailsOf(context, [folded.entry]),
    countedIn: { requestId: folded.countedIn, calls: together === undefined ? null : (together.calls ?? 1) },
  };
}

async function entriesOf(
  connection: Connection,
  workspaceId: string | null,
  requestId: string,
): Promise<readonly LedgerEntry[]> {
  let query = connection
    .selectFrom("ledger")
    .select("record")
    .where("request_id", "=", requestId)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(bounds.listPageMax);
  if (workspaceId !== null) query = query.where((eb) => equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
  const stored = (await query.execute()).map(storedEntry);
  return [...stored, ...(await pendingOf(connection, workspaceId, requestId))];
}

async function detailsOf(context: ReportContext, entries: readonly LedgerEntry[]): Promise<readonly AttemptDetail[]> {
  const names = await namesOf(context.connection, entries);
  const details: AttemptDetail[] = [];
  for (const entry of entries) {
    const { priceVersion } = entry;
    const version = priceVersion === null ? null : await context.price(priceVersion);
    const cost_lines = costLines(entry, version?.table ?? {});
    details.push({ ...requestRowOf(entry, names), ...detailOf(entry), cost_lines });
  }
  return details;
}

type Detail = Omit<AttemptDetail, keyof ReturnType<typeof requestRowOf> | "cost_lines">;

function detailOf(entry: LedgerEntry): Detail {
  const { usage, vendorCostNanoUsd, ownCostNanoUsd, cacheSavedNanoUsd } = entry;
  return {
    ...shownFields("detail", entry),
    usage: Object.fromEntries(
      usageClasses.filter((name) => usage[name] > 0).map((name) => [usageClassColumns[name], usage[name]]),
    ),
    vendor_cost_usd: vendorCostNanoUsd === undefined ? null : nanoToUsd(vendorCostNanoUsd),
    own_cost_usd: ownCostNanoUsd === undefined ? null : nanoToUsd(ownCostNanoUsd),
    cache_saved_usd: cacheSavedNanoUsd === undefined ? null : nanoToUsd(cacheSavedNanoUsd),
    reserved_usd: nanoToUsd(entry.reservedNanoUsd),
  };
}

/** A class without a price costs nothing and is marked. `reasoning` is charged as output. */
function costLines({ usage }: LedgerEntry, table: PriceTable): AttemptDetail["cost_lines"] {
  const prices = chargedPrices(table, usage);
  return pricedClasses
    .filter((name) => usage[name] > 0)
    .map((name) => ({ name, units: usage[name], pico: prices[name] ?? 0 }))
    .map(({ name, units, pico }) => ({
      class: usageClassColumns[name],
      units,
      unit_usd: pico / picoPerUsd,
      usd: (units * pico) / picoPerUsd,
    }));
}

const picoPerUsd = 1e12;
