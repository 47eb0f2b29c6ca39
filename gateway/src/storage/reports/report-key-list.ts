import { keyStates } from "@sluice/contract/words";
import { sql } from "kysely";
import { type BudgetPeriod, nanoToUsd, piecesMatch } from "#core/index.ts";
import type { KeyFilter, KeyList, KeyOrder } from "#ports/index.ts";
import { cutPage, parseSortCursor, type SortPosition, sortCursorOf, sortedPage, sortOrder } from "../database/pages.ts";
import type { Row } from "../database/schema.ts";
import { budgetOf, patternsOf } from "../database/scope-columns.ts";
import { consoleKeyOf, consoleKeys, keyStateOf } from "../keys/keys.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";
import { sumsOfIds } from "./report-id-sums.ts";
import { keyConditions } from "./report-keys.ts";
import { spendOfKeys } from "./report-sums.ts";
import { usageRows } from "./report-usage-rows.ts";

const spendDays = 30;

/** Keys in any order. The sort values of all matching keys are read; everything else only for the keys of the page. */
export async function keyList(
  context: ReportContext,
  filter: KeyFilter,
  order: KeyOrder,
  cursor: string | null,
  limit: number,
): Promise<KeyList> {
  const found = (await sortRows(context, filter, order.sort)).filter(matcherOf(filter));
  context.deadline.check();
  const { page, next } = await pageOf(context, found, { filter, order, cursor, limit });
  const ids = page.map(({ id }) => id);
  if (ids.length === 0) return { data: [], next, total: found.length };
  const rows = await consoleKeys(context.connection).where("api_keys.id", "in", ids).execute();
  const spend = await spendOfKeys(context, ids, spentSince(filter));
  const keys = new Map(
    rows.map((row) => {
      const usd = isVisible(row, order) ? nanoToUsd(spend.get(row.id) ?? 0) : null;
      return [row.id, { ...consoleKeyOf(row, filter.now), spend_usd: usd }];
    }),
  );
  return { data: ids.flatMap((id) => keys.get(id) ?? []), next, total: found.length };
}

type SortRow = Pick<Row<"api_keys">, "id" | "name" | "workspace_id" | "group_id" | "models" | "tags" | "budget"> &
  Pick<
    Row<"api_keys">,
    "digest" | "enabled" | "revoked_at" | "expires_at" | "created_at" | "owner_id" | "person_id"
  > & {
    readonly workspace_slug: string;
    readonly group_name: string;
    readonly last_hour: number | null;
    readonly last_task_at: number | null;
  };

/** The columns that a filter or an order needs; the others are null. */
async function sortRows({ connection }: ReportContext, filter: KeyFilter, sort: string): Promise<readonly SortRow[]> {
  const by = sort.replace(/^-/, "");
  const selected = (column: keyof typeof sortColumns, isNeeded: boolean) =>
    (isNeeded ? sortColumns[column] : sql`null`).as(column);
  const rows = await connection
    .selectFrom("api_keys")
    .select(["id", "workspace_id", "group_id", "owner_id", "person_id"])
    .select([
      selected("name", by === "name"),
      selected("enabled", by === "state"),
      selected("revoked_at", by === "state"),
      selected("expires_at", by === "state" || by === "expires"),
      selected("created_at", by === "created"),
      selected("digest", by === "state"),
      selected("budget", by === "budget"),
      selected("models", filter.model !== undefined),
      selected("tags", filter.tag !== undefined),
      selected("workspace_slug", by === "workspace"),
      selected("group_name", by === "group"),
      selected("last_hour", by === "used"),
      selected("last_task_at", by === "used"),
    ])
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .execute();
  return rows as unknown as readonly SortRow[];
}

const sortColumns = {
  name: sql`name`,
  enabled: sql`enabled`,
  revoked_at: sql`revoked_at`,
  expires_at: sql`expires_at`,
  created_at: sql`created_at`,
  digest: sql`digest`,
  budget: sql`budget`,
  models: sql`models`,
  tags: sql`tags`,
  workspace_slug: sql`(select slug from workspaces where workspaces.id = api_keys.workspace_id)`,
  group_name: sql`(select groups.name from groups where groups.id = api_keys.group_id)`,
  last_hour: sql`(select max(hour) from usage_rollups where usage_rollups.key_id = api_keys.id)`,
  last_task_at: sql`(select max(tasks.created_at) from tasks
    where tasks.workspace_id = api_keys.workspace_id and tasks.key_id = api_keys.id)`,
};

function matcherOf({ model, tag }: KeyFilter): (row: SortRow) => boolean {
  const groups = new Set(model?.groupIds);
  return (row) => {
    if (tag !== undefined) {
      const tags = JSON.parse(row.tags) as Readonly<Record<string, string>>;
      const value = Object.hasOwn(tags, tag.name) ? tags[tag.name] : undefined;
      if (value === undefined || (tag.value !== undefined && tag.value !== value)) return false;
    }
    if (model === undefined) return true;
    if (!groups.has(row.group_id)) return false;
    return (
      row.models === null || patternsOf(row.models).some((pattern) => piecesMatch(pattern.split(/\*+/), model.name))
    );
  };
}

interface PageQuery {
  readonly filter: KeyFilter;
  readonly order: KeyOrder;
  readonly cursor: string | null;
  readonly limit: number;
}

interface KeyPage {
  readonly page: readonly { readonly id: string }[];
  readonly next: string | null;
}

async function pageOf(context: ReportContext, rows: readonly SortRow[], query: PageQuery): Promise<KeyPage> {
  const { filter, order, ...place } = query;
  const { sort } = order;
  const by = sort.replace(/^-/, "");
  if (by === "used") return await pageByLastUse(context, rows, query);
  const isReadable = (row: SortRow) => isVisible(row, order);
  const values: Readonly<Record<string, () => Promise<ValueOf> | ValueOf>> = {
    name: () => (row) => row.name,
    workspace: () => (row) => row.workspace_slug,
    group: () => (row) => row.group_name,
    state: () => (row) => keyStates.indexOf(keyStateOf(row, filter.now)),
    expires: () => (row) => row.expires_at,
    created: () => (row) => row.created_at,
    spend: async () => {
      const spend = await spendByKey(context, filter.workspaceId, spentSince(filter));
      return (row) => (isReadable(row) ? spend(row.id) : null);
    },
    budget: async () => {
      const shares = await budgetShares(context, rows.filter(isReadable), query);
      return (row) => shares.get(row.id) ?? null;
    },
  };
  const sortValueOf = (await values[by]?.()) ?? ((row: SortRow) => row.name);
  return sortedPage(rows, (row) => ({ value: sortValueOf(row), id: row.id }), { sort, ...place });
}

type ValueOf = (row: SortRow) => SortPosition["value"];

/** Whole days (UTC), so that their sums can be used. */
function spentSince({ now }: KeyFilter): number {
  return Math.floor(now / dayMs) * dayMs - spendDays * dayMs;
}

type SpendOf = (keyId: string) => number;

/** Nano-dollars of every key since the hour of a time. */
async function spendByKey(context: ReportContext, workspaceId: string | null, from: number): Promise<SpendOf> {
  const filter = { workspaceId, by: "key", stepMs: hourMs, from, to: lastHour, compared: { from, to: from } } as const;
  const sums = await inOneSnapshot(
    context,
    async (snapshot) => {
      const source = await usageRows(snapshot, filter, 0);
      const query = { context: snapshot, source, filter, column: "key_id" } as const;
      return await sumsOfIds(query, source.span, { sums: ["cost_nano_usd"] });
    },
    { manyGroups: true },
  );
  return (id) => sums.sum(id, "cost_nano_usd");
}

const lastHour = startOfHour(Number.MAX_SAFE_INTEGER);

/** Personal keys are visible to their person only, unless the caller may see everyone's. */
function isVisible(row: Pick<SortRow, "person_id" | "owner_id">, { visiblePerson }: KeyOrder): boolean {
  const personId = row.person_id ?? row.owner_id;
  return visiblePerson === null || personId === null || personId === visiblePerson;
}

async function budgetShares(
  context: ReportContext,
  rows: readonly SortRow[],
  { filter, order }: PageQuery,
): Promise<ReadonlyMap<string, number>> {
  const budgets = rows.flatMap((row) => {
    const budget = budgetOf({ ...row, limits: "{}" });
    return budget === null ? [] : [{ id: row.id, ...budget }];
  });
  const spent = new Map<BudgetPeriod, SpendOf>();
  for (const period of new Set(budgets.map((budget) => budget.period))) {
    spent.set(period, await spendByKey(context, filter.workspaceId, order.periodStarts[period]));
    context.deadline.check();
  }
  return new Map(
    budgets.map(({ id, usd, period }) => {
      const used = nanoToUsd(spent.get(period)?.(id) ?? 0);
      return [id, usd > 0 ? used / usd : Number.MAX_SAFE_INTEGER];
    }),
  );
}

/**
 * Keys by their latest call. The rollups know its hour; the exact time is read only for hours on the page. Keys that were never used are
 * the least recently used.
 */
async function pageByLastUse(
  context: ReportContext,
  rows: readonly SortRow[],
  { filter, order: { sort }, cursor, limit }: PageQuery,
): Promise<KeyPage> {
  const order = sortOrder(sort);
  const after = cursor === null ? null : parseSortCursor(cursor, sort);
  const hours = [...Map.groupBy(rows, hourOf)].sort(([a], [b]) => order({ value: a, id: "" }, { value: b, id: "" }));
  const firstHour = after === null ? null : { value: startOfHour(Number(after.value)), id: "" };
  const placed: SortPosition[] = [];
  for (const [hour, keys] of hours) {
    if (firstHour !== null && order({ value: hour, id: "" }, firstHour) < 0) continue;
    const exact = hour === 0 ? new Map<string, number>() : await lastUseWithin(context, hour, keys, filter);
    const positions = keys.map(({ id, last_task_at: taskAt }) => ({
      value: Math.max(exact.get(id) ?? hour, taskAt ?? 0),
      id,
    }));
    placed.push(...positions.filter((place) => after === null || order(place, after) > 0).sort(order));
    context.deadline.check();
    if (placed.length > limit) break;
  }
  return cutPage(placed.slice(0, limit + 1), limit, (last) => sortCursorOf(last, sort));
}

function hourOf({ last_hour: hour, last_task_at: taskAt }: SortRow): number {
  return Math.max(hour ?? 0, taskAt === null ? 0 : startOfHour(taskAt));
}

function startOfHour(at: number): number {
  return Math.floor(at / hourMs) * hourMs;
}

async function lastUseWithin(
  { connection }: ReportContext,
  hour: number,
  keys: readonly SortRow[],
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
