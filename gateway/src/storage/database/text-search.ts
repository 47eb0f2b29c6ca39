import { type Expression, type SqlBool, sql } from "kysely";

/** Upper and lower case alike. What means something in a pattern stands for itself. */
export function contains(column: Expression<string | null>, part: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${column}) like ${`%${escaped(part.toLowerCase())}%`} escape '\\'`;
}

export function beginsWith(column: Expression<string | null>, start: string): Expression<SqlBool> {
  return sql<SqlBool>`substr(${column}, 1, ${[...start].length}) = ${start}`;
}

/** Upper and lower case alike. */
export function startsWith(column: Expression<string | null>, start: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${column}) like ${`${escaped(start.toLowerCase())}%`} escape '\\'`;
}

/** Upper and lower case alike. */
export function endsWith(column: Expression<string | null>, end: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${column}) like ${`%${escaped(end.toLowerCase())}`} escape '\\'`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
