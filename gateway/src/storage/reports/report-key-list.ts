import { keyStates } from "@sluice/contract/words";
import { expressionBuilder, type RawBuilder, type SqlBool, sql } from "kysely";
import { nanoToUsd, piecesMatch, windowStart } from "#core/index.ts";
import type { KeyFilter, KeyList, KeyOrder } from "#ports/index.ts";
import { cutPage, parseSortCursor, type SortPosition, sortCursorOf, sortedPage } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { limitScope, patternsOf } from "../database/scope-columns.ts";
import { consoleKeyOf, consoleKeys, keyStateOf } from "../keys/keys.ts";
import { dayMs } from "../ledger/ledger-grains.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";
import { type IdSums, sumsOfIds } from "./report-id-sums.ts";
import {
  type KeyPage,
  lastHourOfKey,
  lastTaskOfKey,
  laterHour,
  type PageQuery,
  pageByLastUse,
  pageByLatestUse,
  startOfHour,
  unfoldedHours,
} from "./report-key-use.ts";
import { keyConditions } from "./report-keys.ts";
import { spendOfKeys } from "./report-sums.ts";
import { usageRows } from "./report-usage-rows.ts";

const spendDays = 30;

/**
 * Keys in any order. Where that can be avoided, a list of many keys is not read as a whole; otherwise the sort values of all matching
 * keys are read, and everything else only for the keys of the page.
 */
export async function keyList(
  context: ReportContext,
  filter: KeyFilter,
  order: KeyOrder,
  cursor: string | null,
  limit: number,
): Promise<KeyList> {
  const query = { filter, order, cursor, limit };
  const { page, next, total } = (await firstKeys(context, query)) ?? (await keysOfAll(context, query));
  const ids = page.map(({ id }) => id);
  if (ids.length === 0) return { data: [], next, total };
  const rows = await consoleKeys(context.connection).where("api_keys.id", "in", ids).execute();
  const spend = await spendOfKeys(context, ids, spentSince(filter));
  const keys = new Map(
    rows.map((row) => {
      const usd = isVisible(row, order) ? nanoToUsd(spend.get(row.id) ?? 0) : null;
      return [row.id, { ...consoleKeyOf(row, filter.now), spend_usd: usd }];
    }),
  );
  return { data: ids.flatMap((id) => keys.get(id) ?? []), next, total };
}

type CountedPage = KeyPage & { readonly total: number };

async function keysOfAll(context: ReportContext, query: PageQuery): Promise<CountedPage> {
  const { filter, order } = query;
  const found = (await sortRows(context, filter, order.sort)).filter(matcherOf(filter));
  context.deadline.check();
  return { ...(await pageOf(context, found, query)), total: found.length };
}

/** null: the order, the filter or the place in the list needs all keys. */
async function firstKeys(context: ReportContext, query: PageQuery): Promise<CountedPage | null> {
  const { filter, order } = query;
  const pages: Readonly<Partial<Record<string, typeof pageByName>>> = {
    name: pageByName,
    "-name": pageByName,
    "-spend": pageByMostSpend,
    "-used": pageByLatestUse,
    ...Object.fromEntries(
      ["state", "expires", "created"].flatMap((by) => [by, `-${by}`]).map((by) => [by, pageByColumn]),
    ),
    budget: pageByBudget,
    "-budget": pageByBudget,
  };
  if (filter.model !== undefined || filter.tag !== undefined) return null;
  const page = (await pages[order.sort]?.(context, query)) ?? null;
  if (page === null) return null;
  const { total } = await context.connection
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .executeTakeFirstOrThrow();
  return { ...page, total: Number(total) };
}

async function pageByName({ connection }: ReportContext, query: PageQuery): Promise<KeyPage | null> {
  const { filter, cursor, limit } = query;
  const { sort } = query.order;
  const isDescending = sort.startsWith("-");
  let keys = connection
    .selectFrom("api_keys")
    .select(["id", "name"])
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .orderBy("name", isDescending ? "desc" : "asc")
    .orderBy("id")
    .limit(limit + 1);
  if (cursor !== null) {
    const after = parseSortCursor(cursor, sort);
    const name = String(after.value);
    const isLater = expressionBuilder<Tables, "api_keys">();
    keys = keys.where(
      isLater.or([
        isLater("name", isDescending ? "<" : ">", name),
        isLater.and([isLater("name", "=", name), isLater("id", ">", after.id)]),
      ]),
    );
  }
  return cutPage(await keys.execute(), limit, ({ name, id }) => sortCursorOf({ value: name, id }, sort));
}

/** Keys by a number that the database has or computes. */
async function pageByColumn({ connection }: ReportContext, query: PageQuery): Promise<KeyPage> {
  const { filter, cursor, limit } = query;
  const { sort } = query.order;
  const isDescending = sort.startsWith("-");
  const columns: Readonly<Record<string, RawBuilder<number | null>>> = {
    state: stateNumber(filter.now),
    expires: sql`expires_at`,
    created: sql`created_at`,
  };
  const value = columns[sort.replace(/^-/, "")] ?? sql`null`;
  let keys = connection
    .selectFrom("api_keys")
    .select(["id", value.as("value")])
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .orderBy(sql`${value} is null`)
    .orderBy(value, isDescending ? "desc" : "asc")
    .orderBy("id")
    .limit(limit + 1);
  const after = cursor === null ? null : parseSortCursor(cursor, sort);
  if (after !== null && after.value === null) keys = keys.where(sql<SqlBool>`${value} is null and id > ${after.id}`);
  else if (after !== null) {
    const later = sql`${value} ${sql.raw(isDescending ? "<" : ">")} ${Number(after.value)}`;
    keys = keys.where(
      sql<SqlBool>`(${value} is null or ${later} or (${value} = ${Number(after.value)} and id > ${after.id}))`,
    );
  }
  return cutPage(await keys.execute(), limit, (last) => sortCursorOf(last, sort));
}

/** The place of a key's state in `keyStates`, as `keyStateOf` computes it. */
function stateNumber(now: number): RawBuilder<number> {
  const numberOf = (state: (typeof keyStates)[number]) => sql.lit(keyStates.indexOf(state));
  return sql`case when revoked_at is not null then ${numberOf("revoked")}
    when digest is null then ${numberOf("without_secret")}
    when enabled != 1 then ${numberOf("disabled")}
    when expires_at <= ${sql.lit(now)} then ${numberOf("expired")} else ${numberOf("active")} end`;
}

const keysAtOnce = 500;

/** null: too few keys that spent something match. */
async function pageByMostSpend(context: ReportContext, query: PageQuery): Promise<KeyPage | null> {
  const { filter, limit } = query;
  const { sort, visiblePerson } = query.order;
  if (visiblePerson !== null) return null;
  const spend = await spendByKey(context, filter.workspaceId, spentSince(filter));
  const spenders = spend.numbers.filter((number) => spend.sum(number, "cost_nano_usd") > 0);
  const positionOf = (number: number) => ({ id: spend.idOf(number), value: spend.sum(number, "cost_nano_usd") });
  const found: number[] = [];
  for (let { cursor }: { readonly cursor: string | null } = query; found.length <= limit; ) {
    context.deadline.check();
    const next = sortedPage(spenders, positionOf, { sort, cursor, limit: keysAtOnce });
    if (next.page.length === 0) return null;
    const rows = await context.connection
      .selectFrom("api_keys")
      .select("id")
      .where("id", "in", next.page.map(spend.idOf, spend))
      .where((eb) => eb.and(keyConditions(eb, filter)))
      .execute();
    const matching = new Set(rows.map(({ id }) => id));
    found.push(...next.page.filter((number) => matching.has(spend.idOf(number))));
    if (next.next === null && found.length <= limit) return null;
    cursor = next.next;
  }
  const { page, next } = cutPage(found.slice(0, limit + 1), limit, (last) => sortCursorOf(positionOf(last), sort));
  return { page: page.map((number) => ({ id: spend.idOf(number) })), next };
}

/** Keys without a budget come last in both directions. null: the page contains some. */
async function pageByBudget(context: ReportContext, query: PageQuery): Promise<KeyPage | null> {
  const { filter, cursor, order } = query;
  if (order.visiblePerson !== null) return null;
  if (cursor !== null && parseSortCursor(cursor, order.sort).value === null) return null;
  const page = await pageOf(context, await sortRows(context, filter, order.sort, { hasBudget: true }), query);
  return page.next === null ? null : page;
}

type SortRow = Pick<
  Row<"api_keys">,
  "id" | "name" | "workspace_id" | "group_id" | "models" | "enforce_models" | "tags" | "budget"
> &
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
async function sortRows(
  context: ReportContext,
  filter: KeyFilter,
  sort: string,
  { hasBudget = false }: { readonly hasBudget?: boolean } = {},
): Promise<readonly SortRow[]> {
  const { connection, flavour } = context;
  const by = sort.replace(/^-/, "");
  const columns = { ...sortColumns, last_hour: lastHourOfKey(flavour) };
  const selected = (column: keyof typeof columns, isNeeded: boolean) =>
    (isNeeded ? columns[column] : sql`null`).as(column);
  const keys = connection.selectFrom("api_keys");
  const rows = await (hasBudget ? keys.where("budget", "is not", null) : keys)
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
      selected("enforce_models", filter.model !== undefined),
      selected("tags", filter.tag !== undefined),
      selected("workspace_slug", by === "workspace"),
      selected("group_name", by === "group"),
      selected("last_hour", by === "used"),
      selected("last_task_at", by === "used"),
    ])
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .execute();
  const found = rows as unknown as readonly SortRow[];
  if (by !== "used") return found;
  const unfolded = await unfoldedHours(context);
  return found.map((row) => ({ ...row, last_hour: laterHour(row, unfolded) }));
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
  enforce_models: sql`enforce_models`,
  tags: sql`tags`,
  workspace_slug: sql`(select slug from workspaces where workspaces.id = api_keys.workspace_id)`,
  group_name: sql`(select groups.name from groups where groups.id = api_keys.group_id)`,
  last_task_at: lastTaskOfKey,
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
      row.models === null ||
      row.enforce_models === 0 ||
      patternsOf(row.models).some((pattern) => piecesMatch(pattern.split(/\*+/), model.name))
    );
  };
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
      return (row) => (isReadable(row) ? spend.sumOf(row.id, "cost_nano_usd") : null);
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

/** Nano-dollars of every key since the hour of a time. */
async function spendByKey(context: ReportContext, workspaceId: string | null, from: number): Promise<IdSums> {
  const filter = { workspaceId, by: "key", stepMs: hourMs, from, to: lastHour, compared: { from, to: from } } as const;
  const read = async (snapshot: ReportContext) => {
    const source = await usageRows(snapshot, filter, 0);
    const query = { context: snapshot, source, filter, column: "key_id" } as const;
    return await sumsOfIds(query, source.span, { sums: ["cost_nano_usd"] });
  };
  return await inOneSnapshot(context, read, { manyGroups: true });
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
  { filter }: PageQuery,
): Promise<ReadonlyMap<string, number>> {
  const budgets = rows.flatMap((row) => {
    const { budget } = limitScope("key", row.id, row.id, { budget: row.budget, limits: "{}" });
    if (budget === null) return [];
    // Reports read whole hours.
    const since = startOfHour(windowStart(budget, filter.now));
    return [{ id: row.id, usd: nanoToUsd(budget.nanoUsd), since }];
  });
  const spent = new Map<number, IdSums>();
  for (const since of new Set(budgets.map((budget) => budget.since))) {
    spent.set(since, await spendByKey(context, filter.workspaceId, since));
    context.deadline.check();
  }
  return new Map(
    budgets.map(({ id, usd, since }) => {
      const used = nanoToUsd(spent.get(since)?.sumOf(id, "cost_nano_usd") ?? 0);
      return [id, usd > 0 ? used / usd : Number.MAX_SAFE_INTEGER];
    }),
  );
}
