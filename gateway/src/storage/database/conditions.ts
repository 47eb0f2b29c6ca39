import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";

/** Case-insensitive for ASCII. Wildcards in `part` are literal. */
export function contains(column: Expression<string | null>, part: string): Expression<SqlBool> {
  return like(column, part, (text) => `%${text}%`);
}

export function beginsWith(column: Expression<string | null>, start: string): Expression<SqlBool> {
  return sql<SqlBool>`substr(${column}, 1, ${[...start].length}) = ${start}`;
}

/** Case-insensitive for ASCII. */
export function startsWith(column: Expression<string | null>, start: string): Expression<SqlBool> {
  return like(column, start, (text) => `${text}%`);
}

/** Case-insensitive for ASCII. */
export function endsWith(column: Expression<string | null>, end: string): Expression<SqlBool> {
  return like(column, end, (text) => `%${text}`);
}

/**
 * `lower` handles ASCII only, in both databases. The search text is lowered the same way; columns that are stored in lower case match the
 * fully lowered text too.
 */
function like(column: Expression<string | null>, part: string, pattern: (text: string) => string): Expression<SqlBool> {
  const plain = part.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const whole = part.toLowerCase();
  const matches = (text: string) => sql<SqlBool>`lower(${column}) like ${pattern(escaped(text))} escape '\\'`;
  return plain === whole ? matches(plain) : sql<SqlBool>`(${matches(plain)} or ${matches(whole)})`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

/** Equality for the given values; undefined matches anything. */
export function equalsGiven<Of extends object>(
  values: { readonly [Column in keyof Of]?: string | number | undefined },
): readonly RawBuilder<SqlBool>[] {
  return Object.entries<string | number | undefined>(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`],
  );
}

/**
 * Equality that prevents the use of an index. Without statistics, SQLite chooses the index with the most equal columns, which may not
 * match the order of the list.
 */
export function equalsWithoutIndex(column: Expression<string | null>, value: string): Expression<SqlBool> {
  return sql<SqlBool>`${withoutIndex(column)} = ${value}`;
}

/** A text column as an expression that no index has. */
export function withoutIndex(column: Expression<string | null>): Expression<string | null> {
  return sql`${column} || ''`;
}
