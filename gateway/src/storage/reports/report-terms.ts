import { type Expression, type SqlBool, sql } from "kysely";

/**
 * A condition that no index is chosen for. Without statistics SQLite takes the index with the most equal columns, which
 * is not always the one whose order the list goes by.
 */
export function equalsWithoutIndex(column: Expression<string | null>, value: string): Expression<SqlBool> {
  return sql<SqlBool>`${column} || '' = ${value}`;
}
