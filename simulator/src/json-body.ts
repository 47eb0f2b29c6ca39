import { bounds } from "./bounds.ts";

/** Readers for untrusted JSON: a value of the wrong type is treated as missing. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The body as a JSON object, or null. */
export function parseObject(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects in an array. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The first value that is a number of at least zero. */
export function countOf(...values: readonly unknown[]): number | null {
  for (const value of values) if (typeof value === "number" && value >= 0) return value;
  return null;
}

/** The texts of message content: a string, or a list of parts with a `text`. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return objectsOf(content).map((part) => stringOf(part["text"]));
}

/** Every string inside a JSON value, in order. */
export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isObject(value) ? Object.values(value).flatMap(stringsIn) : [];
}

/** The same JSON value, with texts and lists shortened so that it can be stored for long. */
function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.slice(0, bounds.storedTextMax);
  if (depth >= bounds.storedDepthMax) return null;
  if (Array.isArray(value)) return value.slice(0, bounds.storedListMax).map((item) => shortened(item, depth + 1));
  return isObject(value) ? shortenedObject(value, depth) : value;
}

export function shortenedObject(value: JsonObject, depth = 0): JsonObject {
  const rows = Object.entries(value).slice(0, bounds.storedListMax);
  return Object.fromEntries(rows.map(([name, item]) => [name, shortened(item, depth + 1)]));
}
