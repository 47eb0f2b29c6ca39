import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";

/** Upper and lower case alike, as far as the databases know them. What means something in a pattern stands for itself. */
export function contains(column: Expression<string | null>, part: string): Expression<SqlBool> {
  return like(column, part, (text) => `%${text}%`);
}

export function beginsWith(column: Expression<string | null>, start: string): Expression<SqlBool> {
  return sql<SqlBool>`substr(${column}, 1, ${[...start].length}) = ${start}`;
}

/** Upper and lower case alike. */
export function startsWith(column: Expression<string | null>, start: string): Expression<SqlBool> {
  return like(column, start, (text) => `${text}%`);
}

/** Upper and lower case alike. */
export function endsWith(column: Expression<string | null>, end: string): Expression<SqlBool> {
  return like(column, end, (text) => `%${text}`);
}

/**
 * `lower` knows the letters of ASCII only: in SQLite, and in PostgreSQL for text that is ordered by its bytes. So what is searched is
 * lowered alike, and found as it is written; or as columns hold it that were lowered as a whole.
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

/** That columns have the values that are given; what is undefined may be anything. */
export function equalsGiven<Of extends object>(
  values: { readonly [Column in keyof Of]?: string | number | undefined },
): readonly RawBuilder<SqlBool>[] {
  return Object.entries<string | number | undefined>(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`],
  );
}

/**
 * A condition that no index is chosen for. Without statistics SQLite takes the index with the most equal columns, which
 * is not always the one whose order the list goes by.
 */
export function equalsWithoutIndex(column: Expression<string | null>, value: string): Expression<SqlBool> {
  return sql<SqlBool>`${column} || '' = ${value}`;
}
