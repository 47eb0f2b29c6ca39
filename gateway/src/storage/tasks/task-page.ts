import { type SelectQueryBuilder, sql } from "kysely";
import { bounds, type Task, type TaskState } from "#core/index.ts";
import type { TaskFilter, TaskPage, TaskPlace, Vault } from "#ports/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { cursorOf, cutPage, isBehind, type Place, pageSize, placeOf } from "../database/pages.ts";
import type { Tables } from "../database/schema.ts";
import { type TaskRow, taskOf } from "./task-columns.ts";

export interface PageAsked {
  readonly filter: TaskFilter;
  readonly cursor: string | TaskPlace | null;
  readonly limit: number;
}

/** One page of tasks, newest first unless told, their requests left out: a thousand bodies could be gigabytes. */
export async function taskPage(
  database: Database,
  vault: Vault,
  { filter, cursor, limit }: PageAsked,
): Promise<TaskPage> {
  const size = pageSize(limit);
  const after = typeof cursor === "string" ? placeOf(cursor) : cursor === null ? null : placeOfTask(cursor);
  if (filter.states?.length === 0) return { tasks: [], next: null };
  // One more than asked for tells whether there is a following page.
  const rows = await firstOf(database.kysely, filter, after, size + 1).execute();
  const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.created_at, id: last.id }));
  return { tasks: page.map((row) => taskOf(row, "", vault)), next };
}

/** Reads pages of what is not final, so that neither a long list nor a long read is held. */
export async function* openTasks(
  database: Database,
): AsyncGenerator<Pick<Task, "id" | "workspaceId" | "groupId" | "keyId" | "personId" | "reservedNanoUsd">> {
  for (let after = ""; ; ) {
    const rows = await database.kysely
      .selectFrom("tasks")
      .select(["id", "workspace_id", "group_id", "key_id", "person_id", "reserved_nano_usd"])
      .where("final", "=", sql.lit(0))
      .where("id", ">", after)
      .orderBy("id")
      .limit(bounds.listPageMax)
      .execute();
    for (const row of rows) {
      yield {
        id: row.id,
        workspaceId: row.workspace_id,
        groupId: row.group_id,
        keyId: row.key_id,
        ...(row.person_id === null ? {} : { personId: row.person_id }),
        reservedNanoUsd: row.reserved_nano_usd,
      };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < bounds.listPageMax) return;
    after = last.id;
  }
}

type Rows = SelectQueryBuilder<Tables, "tasks", TaskRow>;

/**
 * Each state is read by itself, in the order of its index, and the first of all are kept: asked for several at once, the
 * database would sort every task that has one of them.
 */
function firstOf(connection: Connection, filter: TaskFilter, after: Place | null, size: number) {
  if (filter.workspaceId === null) return ofEveryWorkspace(connection, filter, after).limit(size);
  const states = [...new Set(filter.states ?? [])];
  const [first, ...more] = states.map((state) => matching(connection, filter, after, state).limit(size));
  if (first === undefined) return matching(connection, filter, after, null).limit(size);
  if (more.length === 0) return first;
  const apart = [first, ...more].map((rows) => connection.selectFrom(rows.as("one")).selectAll());
  const together = apart.reduce((all, rows) => all.unionAll(rows));
  return connection
    .selectFrom(together.as("tasks"))
    .selectAll()
    .orderBy("created_at", orderOf(filter))
    .orderBy("id", orderOf(filter))
    .limit(size);
}

const orderOf = ({ oldestFirst }: TaskFilter): "asc" | "desc" => (oldestFirst === true ? "asc" : "desc");

/** Ids are ordered by time, so that of all tasks the newest are found without an index of their own. */
function ofEveryWorkspace(connection: Connection, filter: TaskFilter, after: Place | null): Rows {
  let query = narrowed(connection.selectFrom("tasks").selectAll(), filter).orderBy("id", "desc");
  if (filter.states !== undefined) query = query.where("state", "in", filter.states);
  return after === null ? query : query.where("id", "<", after.id);
}

function matching(connection: Connection, filter: TaskFilter, after: Place | null, state: TaskState | null): Rows {
  let query = narrowed(connection.selectFrom("tasks").selectAll(), filter)
    .where("workspace_id", "=", filter.workspaceId)
    .orderBy("created_at", orderOf(filter))
    .orderBy("id", orderOf(filter));
  if (state !== null) query = query.where("state", "=", state);
  if (after === null) return query;
  const order = filter.oldestFirst === true ? "oldest first" : "newest first";
  return query.where(isBehind(["created_at", "id"], after, order));
}

function narrowed(rows: Rows, filter: TaskFilter): Rows {
  let query = rows.where("kind", "=", "video").where("deleted_at", "is", null);
  if (filter.keyId !== undefined) query = query.where("key_id", "=", filter.keyId);
  if (filter.model !== undefined) query = query.where("model", "=", filter.model);
  const { seenPerson } = filter;
  if (seenPerson !== undefined) {
    query = query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", seenPerson)]));
  }
  return query;
}

function placeOfTask({ createdAt, id }: TaskPlace): Place {
  return { at: createdAt, id };
}

/** From the partial index of open tasks alone. */
export async function openResponses(
  database: Database,
): Promise<{ readonly count: number; readonly oldestAt: number | null }> {
  const row = await database.kysely
    .selectFrom("tasks")
    .select(({ fn }) => [fn.countAll<number>().as("count"), fn.min<number | null>("created_at").as("oldest")])
    .where("kind", "=", sql.lit("response"))
    .where("final", "=", sql.lit(0))
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), oldestAt: row.oldest === null ? null : Number(row.oldest) };
}
