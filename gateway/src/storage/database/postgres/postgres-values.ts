/** Values as SQLite returns them: numbers, flags as 0 or 1, and times of the sign-in tables as ISO 8601 text. */
export const postgresTypes = {
  getTypeParser(oid: number, format?: string): (value: string) => unknown {
    return format === "binary" ? (value) => value : (parsers[oid] ?? asText);
  },
};

const asText = (value: string): string => value;

/** By type oid (pg_type). */
const parsers: Readonly<Record<number, (value: string) => unknown>> = {
  /** bool */
  16: (value) => (value === "t" ? 1 : 0),
  /** int8; beyond 2^53 the nearest number, as in SQLite. */
  20: Number,
  /** int2, int4, oid */
  21: Number,
  23: Number,
  26: Number,
  /** float4, float8 */
  700: Number,
  701: Number,
  /** numeric: sums of int8. */
  1700: Number,
  /** timestamptz in UTC: 2026-01-01 00:00:00.123+00 */
  1184: (value) => new Date(`${value.slice(0, 10)}T${value.slice(11).replace(/\+00$/, "Z")}`).toISOString(),
};

/** Converts what SQLite accepts and PostgreSQL does not: booleans as numbers, and zero characters in text. */
export function postgresValue(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  return value;
}

/** A PostgreSQL array literal with one value of each row; undefined becomes null. */
export function postgresArray<Row>(rows: readonly Row[], read: (row: Row) => unknown): string {
  let text = "{";
  for (let index = 0; index < rows.length; index++) {
    if (index > 0) text += ",";
    text += element(read(rows[index] as Row));
  }
  return `${text}}`;
}

function element(given: unknown): string {
  // Most texts need no escaping.
  if (typeof given === "string" && !needsCare.test(given)) return `"${given}"`;
  if (typeof given === "number") return String(given);
  const value = postgresValue(given);
  return value === null || value === undefined ? "NULL" : `"${String(value).replace(escaped, "\\$&")}"`;
}

const needsCare = /["\\\0]/;
const escaped = /["\\]/g;

/** jsonb rejects zero characters and lone surrogates, in texts and in names of members; they become U+FFFD. */
export function postgresJson(json: string): string {
  if (!refusedEscape.test(json)) return json;
  return JSON.stringify(JSON.parse(json), (_, value: unknown) => {
    if (typeof value === "string") return acceptedText(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [acceptedText(name), member]));
  });
}

function acceptedText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

const refusedEscape = /\\u(?:0000|[dD][89a-fA-F])/;
