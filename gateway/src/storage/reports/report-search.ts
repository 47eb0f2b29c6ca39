import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import type { Connection } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";

/**
 * A condition that no index is chosen for. Without statistics SQLite takes the index with the most equal columns, which
 * is not always the one whose order the list goes by.
 */
export function equalsWithoutIndex(column: Expression<string | null>, value: string): Expression<SqlBool> {
  return sql<SqlBool>`${column} || '' = ${value}`;
}

/** More than this is no search for one thing; then the list is looked through in its own order. */
const idsMax = 1_000;

type Terms = ExpressionBuilder<Tables, "ledger_entries">;

/**
 * The attempts whose own id, or whose request's or upstream's id, begins with a text; each kind of id has its index. null
 * when there are many.
 */
export async function idsBeginningWith(
  connection: Connection,
  workspaceId: string | null,
  start: string,
): Promise<readonly string[] | null> {
  const ids = new Set<string>();
  for (const column of ["attempt_id", "request_id", "upstream_id"] as const) {
    const rows = await connection
      .selectFrom("ledger_entries")
      .select("attempt_id")
      .where((eb) => eb.and([...within(eb, column, workspaceId), eb(column, ">=", start), eb(column, "<", end(start))]))
      .limit(idsMax + 1)
      .execute();
    if (rows.length > idsMax) return null;
    for (const row of rows) ids.add(row.attempt_id);
  }
  return [...ids];
}

/** The index of upstream ids goes by workspace first. */
function within(
  eb: Terms,
  column: "attempt_id" | "request_id" | "upstream_id",
  workspaceId: string | null,
): Expression<SqlBool>[] {
  if (column === "upstream_id") {
    return workspaceId === null
      ? [eb("workspace_id", "in", eb.selectFrom("workspaces").select("id")), eb("upstream_id", "is not", null)]
      : [eb("workspace_id", "=", workspaceId), eb("upstream_id", "is not", null)];
  }
  return workspaceId === null ? [] : [equalsWithoutIndex(eb.ref("workspace_id"), workspaceId)];
}

/** Behind everything that begins so: no id holds the last character there is. */
function end(start: string): string {
  return `${start}\u{10FFFF}`;
}
