type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : "";

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type AsJson<Type> = null extends Type ? string | null : string;

/** Column names and types for the members of a value. `Json`: members stored as JSON text. */
export type Columns<Value, Json extends string = never> = {
  [Member in keyof Value as SnakeCase<Member & string>]: Member extends Json ? AsJson<Value[Member]> : Value[Member];
};

/** Converts given members to columns, which have the same names in snake case. `json`: members stored as JSON text. */
export function columnsOf<Value extends object, Json extends string = never>(
  value: Value,
  json: readonly Json[] = [],
): Columns<Value, Json> {
  const columns: Record<string, unknown> = {};
  for (const [member, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const isJson = given !== null && json.includes(member as Json);
    columns[snakeCase(member)] = isJson ? JSON.stringify(given) : given;
  }
  return columns as Columns<Value, Json>;
}

type Members<Columns, Json extends string, Optional extends string> = {
  [Column in keyof Columns as Exclude<CamelCase<Column & string>, Optional>]: CamelCase<Column & string> extends Json
    ? // biome-ignore lint/suspicious/noExplicitAny: stored values are trusted, as with JSON.parse
      any
    : Columns[Column];
} & {
  [Column in keyof Columns as Extract<CamelCase<Column & string>, Optional>]?: CamelCase<Column & string> extends Json
    ? // biome-ignore lint/suspicious/noExplicitAny: as above
      any
    : NonNullable<Columns[Column]>;
};

/** The inverse of `columnsOf`. `optional`: members that are absent if their column is null. */
export function membersOf<Columns extends object, Json extends string = never, Optional extends string = never>(
  columns: Columns,
  json: readonly Json[] = [],
  optional: readonly Optional[] = [],
): Members<Columns, Json, Optional> {
  const members: Record<string, unknown> = {};
  for (const [column, stored] of Object.entries(columns)) {
    const member = camelCase(column);
    if (stored === null && optional.includes(member as Optional)) continue;
    members[member] = stored !== null && json.includes(member as Json) ? JSON.parse(stored) : stored;
  }
  return members as Members<Columns, Json, Optional>;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Cached, because pages of rows repeat the same columns. */
const camelNames = new Map<string, string>();

function camelCase(column: string): string {
  let name = camelNames.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    camelNames.set(column, name);
  }
  return name;
}
