import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { CountedList, ListCount } from "#ports/index.ts";
import { contains } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";
import type { ReportContext } from "./report-context.ts";

/** Counts the rows of a list. Reads at most `bounds.listCountMax` rows, so rare matches in a longer list are not counted. */
export async function listCount(
  { connection }: ReportContext,
  counted: CountedList,
  max: number = bounds.listCountMax,
): Promise<ListCount> {
  const { scanned, matches, isComplete = false } = await countIn(connection, counted, max);
  if (scanned <= max || isComplete) return { total: matches, more_than_total: false };
  return matches > max ? { total: max, more_than_total: true } : { total: null, more_than_total: false };
}

interface Counts {
  readonly scanned: number;
  readonly matches: number;
  /** No row beyond the scanned ones can match. */
  readonly isComplete?: boolean;
}

async function countIn(connection: Connection, counted: CountedList, max: number): Promise<Counts> {
  if (counted.list === "audit") return await countAudit(connection, counted.filter, max);
  if (counted.list === "tasks") return await countTasks(connection, counted.filter, max);
  if (counted.list === "assets") {
    const { workspaceId, groupId } = counted.filter;
    const rows = connection.selectFrom("assets").select("id").where("workspace_id", "=", workspaceId);
    return await countAll(connection, groupId === undefined ? rows : rows.where("group_id", "=", groupId), max);
  }
  const { ownerId } = counted.filter;
  const rows = connection.selectFrom("admin_tokens").select("id");
  return await countAll(connection, ownerId === null ? rows : rows.where("owner_id", "=", ownerId), max);
}

/** Every row matches. */
async function countAll<Table extends keyof Tables>(
  connection: Connection,
  rows: SelectQueryBuilder<Tables, Table, { id: string }>,
  max: number,
): Promise<Counts> {
  const { matches } = await connection
    .selectFrom(rows.limit(max + 1).as("listed"))
    .select((eb) => eb.fn.countAll<number>().as("matches"))
    .executeTakeFirstOrThrow();
  return { scanned: Number(matches), matches: Number(matches) };
}

type Filter<List extends CountedList["list"]> = Extract<CountedList, { readonly list: List }>["filter"];

async function countAudit(
  connection: Connection,
  { workspaceId, search = "", action, from, to }: Filter<"audit">,
  max: number,
): Promise<Counts> {
  const newest = connection
    .selectFrom("audit_log")
    .select(["at", "action", "object", "actor"])
    .orderBy("seq", "desc")
    .limit(max + 1);
  const rows = workspaceId === null ? newest : newest.where("workspace_id", "=", workspaceId);
  const { scanned, matches, oldest } = await connection
    .selectFrom(rows.as("audit_log"))
    .select((eb) => {
      const conditions: Expression<SqlBool>[] = [];
      if (action !== undefined) conditions.push(eb("action", "=", action));
      if (from !== undefined) conditions.push(eb("at", ">=", from));
      if (to !== undefined) conditions.push(eb("at", "<", to));
      if (search !== "") {
        conditions.push(eb.or([contains(eb.ref("object"), search), contains(eb.ref("actor"), search)]));
      }
      return [
        eb.fn.countAll<number>().as("scanned"),
        matching(eb.and(conditions)).as("matches"),
        eb.fn.min<number | null>("at").as("oldest"),
      ];
    })
    .executeTakeFirstOrThrow();
  const isComplete = from !== undefined && oldest !== null && Number(oldest) < from;
  return { scanned: Number(scanned), matches: Number(matches), isComplete };
}

async function countTasks(
  connection: Connection,
  { workspaceId, keyId, model, states, visiblePerson = null }: Filter<"tasks">,
  max: number,
): Promise<Counts> {
  let rows = connection
    .selectFrom("tasks")
    .select(["kind", "deleted_at", "state", "person_id", "key_id", "model"])
    .limit(max + 1);
  // These conditions have an index in a workspace.
  if (workspaceId !== null) {
    rows = rows.where("workspace_id", "=", workspaceId);
    if (keyId !== undefined) rows = rows.where("key_id", "=", keyId);
    else if (model !== undefined) rows = rows.where("model", "=", model);
  }
  const { scanned, matches } = await connection
    .selectFrom(rows.as("tasks"))
    .select((eb) => {
      const conditions: Expression<SqlBool>[] = [eb("kind", "=", "video"), eb("deleted_at", "is", null)];
      if (keyId !== undefined) conditions.push(eb("key_id", "=", keyId));
      if (model !== undefined) conditions.push(eb("model", "=", model));
      if (states !== undefined) conditions.push(states.length === 0 ? sql<SqlBool>`1 = 0` : eb("state", "in", states));
      if (visiblePerson !== null) {
        conditions.push(eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
      }
      return [eb.fn.countAll<number>().as("scanned"), matching(eb.and(conditions)).as("matches")];
    })
    .executeTakeFirstOrThrow();
  return { scanned: Number(scanned), matches: Number(matches) };
}

function matching(condition: Expression<SqlBool>) {
  return sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`;
}
