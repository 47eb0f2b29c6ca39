import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { KeyFilter, KeyOrder } from "#ports/index.ts";
import type { Flavour } from "../database/database.ts";
import { cutPage, parseSortCursor, type SortPosition, sortCursorOf, sortOrder } from "../database/pages.ts";
import { chunksOf } from "../database/reconcile.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { foldedRollups, hourMs } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";
import { keyConditions } from "./report-keys.ts";

/** Without unfolded sums: PostgreSQL would read all of those for each key. See `unfoldedHours`. */
export function lastHourOfKey(flavour: Flavour): RawBuilder<number | null> {
  const rollups = foldedRollups(flavour);
  return sql<number | null>`(select max(hour) from ${rollups} as rollups where rollups.key_id = api_keys.id)`;
}

/** The last hour of each key in unfolded sums. */
export async function unfoldedHours({ connection, flavour }: ReportContext): Promise<ReadonlyMap<string, number>> {
  if (flavour.name === "sqlite") return new Map();
  const { rows } = await sql<{ id: string; hour: number }>`
    select key_id as id, max(hour) as hour from usage_rollups_tail group by key_id`.execute(connection);
  return new Map(rows.map(({ id, hour }) => [id, Number(hour)]));
}

/** Adds the unfolded sums to the last hour of a key. */
export function laterHour(
  { id, last_hour: hour }: Pick<UsedKey, "id" | "last_hour">,
  unfolded: ReadonlyMap<string, number>,
): number | null {
  const last = Math.max(hour ?? 0, unfolded.get(id) ?? 0);
  return last === 0 ? null : last;
}

export const lastTaskOfKey = sql<number | null>`(
  select max(tasks.created_at) from tasks where tasks.workspace_id = api_keys.workspace_id and tasks.key_id = api_keys.id)`;

export interface PageQuery {
  readonly filter: KeyFilter;
  readonly order: KeyOrder;
  readonly cursor: string | null;
  readonly limit: number;
}

export interface KeyPage {
  readonly page: readonly { readonly id: string }[];
  readonly next: string | null;
}

/** A key, with its last hour in the rollups and the time of its last task. */
interface UsedKey {
  readonly id: string;
  readonly workspace_id: string;
  readonly last_hour: number | null;
  readonly last_task_at: number | null;
}

/**
 * Keys by their latest call. The rollups contain its hour; the exact time is read only for hours on the page. Keys that were never used are
 * the least recently used.
 */
export async function pageByLastUse(
  context: ReportContext,
  rows: readonly UsedKey[],
  query: PageQuery,
): Promise<KeyPage> {
  const { order, after, first } = startOf(query);
  const hours = [...Map.groupBy(rows, hourOf)].sort(([a], [b]) => order({ value: a, id: "" }, { value: b, id: "" }));
  const placed: SortPosition[] = [];
  for (const [hour, keys] of hours) {
    if (first !== null && order({ value: hour, id: "" }, first) < 0) continue;
    const positions = await positionsIn(context, hour, keys, query.filter);
    placed.push(...positions.filter((place) => after === null || order(place, after) > 0).sort(order));
    context.deadline.check();
    if (placed.length > query.limit) break;
  }
  return pageOfPlaces(placed, query);
}

/** A page is filled from a few hours, or all keys are read. */
const latestHoursMax = 8;
const keysAtOnce = 500;

/** The most recently used keys, hour by hour, from the entries. null: too few matching keys were used in a few hours. */
export async function pageByLatestUse(context: ReportContext, query: PageQuery): Promise<KeyPage | null> {
  const { filter, limit } = query;
  const { search = "" } = filter;
  const isNarrow = [filter.keyId, filter.userId, filter.ownerId, filter.leaverId].some((id) => id !== undefined);
  if (isNarrow || search !== "") return null;
  const { order, after, first } = startOf(query);
  const tasks = await latestTasks(context, filter);
  const unfolded = await unfoldedHours(context);
  const pruned = await prunedBefore(context.connection);
  const placed: SortPosition[] = [];
  let before = first === null ? Number.MAX_SAFE_INTEGER : first.value + hourMs;
  for (let turn = 0; turn < latestHoursMax; turn++) {
    const hour = await latestHour(context, before, tasks);
    // Rollups are kept longer than entries.
    if (hour === null || hour < pruned) return null;
    const isLater = (id: string) => startOfHour(tasks.get(id) ?? 0) > hour || (unfolded.get(id) ?? 0) > hour;
    const used = [...(await usesIn(context, hour, filter, tasks))].map(([id, value]) => ({ id, value }));
    const places = used
      .filter((place) => !isLater(place.id) && (after === null || order(place, after) > 0))
      .toSorted(order);
    for (const chunk of chunksOf(places, keysAtOnce)) {
      context.deadline.check();
      const matching = await keysNotUsedAfter(context, hour, chunk, filter);
      placed.push(...chunk.filter(({ id }) => matching.has(id)));
      if (placed.length > limit) return pageOfPlaces(placed, query);
    }
    before = hour;
  }
  return null;
}

/** When each key was last used in an hour, by a call or a task. */
async function usesIn(
  context: ReportContext,
  hour: number,
  filter: KeyFilter,
  tasks: LatestTasks,
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map(await lastUseWithin(context, hour, [], filter));
  for (const [id, at] of tasks) if (startOfHour(at) === hour) uses.set(id, Math.max(uses.get(id) ?? 0, at));
  return uses;
}

/** The keys that match and have no folded sums of later hours. */
async function keysNotUsedAfter(
  { connection, flavour }: ReportContext,
  hour: number,
  places: readonly SortPosition[],
  filter: KeyFilter,
): Promise<ReadonlySet<string>> {
  const rollups = foldedRollups(flavour);
  const keys = await connection
    .selectFrom("api_keys")
    .select("id")
    .where(
      "id",
      "in",
      places.map(({ id }) => id),
    )
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .where(
      sql<SqlBool>`not exists (select 1 from ${rollups} as later where later.key_id = api_keys.id and later.hour > ${hour})`,
    )
    .execute();
  return new Set(keys.map(({ id }) => id));
}

function startOf({ order: { sort }, cursor }: PageQuery) {
  const after = cursor === null ? null : parseSortCursor(cursor, sort);
  const first = after === null ? null : { value: startOfHour(Number(after.value)), id: "" };
  return { order: sortOrder(sort), after, first };
}

function pageOfPlaces(placed: readonly SortPosition[], { order: { sort }, limit }: PageQuery): KeyPage {
  return cutPage(placed.slice(0, limit + 1), limit, (last) => sortCursorOf(last, sort));
}

type LatestTasks = ReadonlyMap<string, number>;

async function latestTasks({ connection }: ReportContext, { workspaceId }: KeyFilter): Promise<LatestTasks> {
  let tasks = connection
    .selectFrom("tasks")
    .select((eb) => ["key_id", eb.fn.max<number>("created_at").as("at")])
    .groupBy(["workspace_id", "key_id"]);
  if (workspaceId !== null) tasks = tasks.where("workspace_id", "=", workspaceId);
  return new Map((await tasks.execute()).map(({ key_id, at }) => [key_id, Number(at)]));
}

async function latestHour({ connection }: ReportContext, before: number, tasks: LatestTasks): Promise<number | null> {
  const { hour } = await connection
    .selectFrom("usage_rollups")
    .select((eb) => eb.fn.max<number | null>("hour").as("hour"))
    .where("hour", "<", before)
    .executeTakeFirstOrThrow();
  let latest = hour;
  for (const at of tasks.values()) {
    const taskHour = startOfHour(at);
    if (taskHour < before && taskHour > (latest ?? -1)) latest = taskHour;
  }
  return latest;
}

/** `keys` were last used in this hour; 0: never. */
async function positionsIn(
  context: ReportContext,
  hour: number,
  keys: readonly UsedKey[],
  filter: KeyFilter,
): Promise<readonly SortPosition[]> {
  const exact = hour === 0 ? new Map<string, number>() : await lastUseWithin(context, hour, keys, filter);
  return keys.map(({ id, last_task_at: taskAt }) => ({ value: Math.max(exact.get(id) ?? hour, taskAt ?? 0), id }));
}

function hourOf({ last_hour: hour, last_task_at: taskAt }: UsedKey): number {
  return Math.max(hour ?? 0, taskAt === null ? 0 : startOfHour(taskAt));
}

export function startOfHour(at: number): number {
  return Math.floor(at / hourMs) * hourMs;
}

async function lastUseWithin(
  { connection }: ReportContext,
  hour: number,
  keys: readonly UsedKey[],
  { workspaceId }: KeyFilter,
): Promise<ReadonlyMap<string, number>> {
  const [first] = keys;
  const only = keys.length === 1 ? first : undefined;
  const place = only?.workspace_id ?? workspaceId;
  let query = connection
    .selectFrom("ledger_entries")
    .select("key_id")
    .select((eb) => eb.fn.max("at").as("at"))
    .where("at", ">=", hour)
    .where("at", "<", hour + hourMs)
    .groupBy("key_id");
  if (place !== null) query = query.where("workspace_id", "=", place);
  if (only !== undefined) query = query.where("key_id", "=", only.id);
  return new Map((await query.execute()).map(({ key_id, at }) => [key_id, Number(at)]));
}
