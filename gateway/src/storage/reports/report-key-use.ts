import { sql } from "kysely";
import type { KeyFilter, KeyOrder } from "#ports/index.ts";
import { cutPage, parseSortCursor, type SortPosition, sortCursorOf, sortOrder } from "../database/pages.ts";
import { chunksOf } from "../database/reconcile.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";
import { keyConditions } from "./report-keys.ts";

export const lastHourOfKey = sql<number | null>`(
  select max(hour) from usage_rollups where usage_rollups.key_id = api_keys.id)`;
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

/** What the rollups and tasks contain about the last use of a key. */
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
const latestKeysMax = 20_000;
const keysAtOnce = 1_000;

/** The most recently used keys, hour by hour. null: too few matching keys were used in a few hours. */
export async function pageByLatestUse(context: ReportContext, query: PageQuery): Promise<KeyPage | null> {
  const { filter, limit } = query;
  const { search = "" } = filter;
  const isNarrow = [filter.keyId, filter.userId, filter.ownerId, filter.leaverId].some((id) => id !== undefined);
  if (isNarrow || search !== "") return null;
  const { order, after, first } = startOf(query);
  const tasks = await latestTasks(context, filter);
  const placed: SortPosition[] = [];
  let before = first === null ? Number.MAX_SAFE_INTEGER : first.value + hourMs;
  for (let turn = 0; turn < latestHoursMax; turn++) {
    const hour = await latestHour(context, before, tasks);
    if (hour === null) return null;
    const keys = await keysLastUsedIn(context, hour, filter, tasks);
    if (keys === null) return null;
    const positions = await positionsIn(context, hour, keys, filter);
    placed.push(...positions.filter((place) => after === null || order(place, after) > 0).sort(order));
    context.deadline.check();
    if (placed.length > limit) return pageOfPlaces(placed, query);
    before = hour;
  }
  return null;
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

/** null: there are too many keys in this hour. */
async function keysLastUsedIn(
  { connection, deadline }: ReportContext,
  hour: number,
  filter: KeyFilter,
  tasks: LatestTasks,
): Promise<readonly UsedKey[] | null> {
  let called = connection.selectFrom("usage_rollups").select("key_id").distinct().where("hour", "=", hour);
  if (filter.workspaceId !== null) called = called.where("workspace_id", "=", filter.workspaceId);
  const ids = new Set((await called.limit(latestKeysMax + 1).execute()).map(({ key_id }) => key_id));
  for (const [id, at] of tasks) if (startOfHour(at) === hour) ids.add(id);
  if (ids.size > latestKeysMax) return null;
  const found: UsedKey[] = [];
  for (const chunk of chunksOf([...ids], keysAtOnce)) {
    deadline.check();
    const keys = await connection
      .selectFrom("api_keys")
      .select(["id", "workspace_id", lastHourOfKey.as("last_hour")])
      .where("id", "in", chunk)
      .where((eb) => eb.and(keyConditions(eb, filter)))
      .execute();
    found.push(...keys.map((key) => ({ ...key, last_task_at: tasks.get(key.id) ?? null })));
  }
  return found.filter((key) => hourOf(key) === hour);
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
