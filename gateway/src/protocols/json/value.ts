import { Failure } from "#core/index.ts";
import { ascii, decodeText, encodeText } from "./bytes.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An empty object for other values. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : emptyObject;
}

const emptyObject: JsonObject = Object.freeze({});

/** Without members that are null or undefined. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
}

/** An empty array for other values. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function booleanOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** An integer of at least 0, else null. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Null if the text is not a JSON object. */
export function parseObject(json: string | Uint8Array): JsonObject | null {
  const value = parseJson(json);
  return isObject(value) ? value : null;
}

/** Like `parseObject`, or the first item of an array. */
export function parseFirst(json: string | Uint8Array): JsonObject | null {
  const value = parseJson(json);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : null;
}

/** Null if the text is not JSON. */
function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === "string" ? json : decodeText(json));
  } catch {
    return null;
  }
}

/**
 * A small reply, parsed by the runtime in about half the time of a scan. null: it has to be scanned, because it is no JSON object, usage
 * may appear twice, or it is larger: with many escapes parsing takes longer than a scan.
 */
export function parseUsualReply(reply: Buffer): JsonObject | null {
  if (reply.length > parsedBytesMax) return null;
  const usage = reply.indexOf(usageMark);
  return usage === -1 || reply.includes(usageMark, usage + 1) ? null : parseObject(reply.toString());
}

const parsedBytesMax = 2 * 1024;
const usageMark = ascii('"usage"');

/** Throws Failure invalid_json. */
export function parseBody(body: Uint8Array): JsonObject {
  const value = parseObject(body);
  if (value === null) throw new Failure("invalid_json", "The body is not a JSON object.");
  return value;
}

/** Throws Failure upstream_error. */
export function parseReply(body: Uint8Array): JsonObject {
  const value = parseObject(body);
  if (value !== null) return value;
  throw new Failure("upstream_error", "The upstream's answer is not a JSON object.", {
    retry: "other",
    unhealthy: true,
  });
}

export function missingParam(param: string): Failure {
  return new Failure("missing_required_parameter", `The parameter "${param}" is missing.`, { param });
}

export function invalid(param: string, why: string): Failure {
  return new Failure("invalid_request", `The parameter "${param}" ${why}.`, { param });
}

export function misspelled(param: string, meant: string): Failure {
  return invalid(param, `is a misspelling of "${meant}": write "${meant}"`);
}

/** The request cannot be served by this upstream; another deployment may. */
export function unsupported(param: string, why: string): Failure {
  return new Failure("unsupported_by_model", why, { param, retry: "other" });
}

/** Read a member of a request. Null means absent. Throw Failure invalid_request for another type. */
export const textMember = memberOf(textOf, "must be a string");
export const numberMember = memberOf(numberOf, "must be a number");
export const booleanMember = memberOf(booleanOf, "must be true or false");
export const arrayMember = memberOf(
  (value): readonly unknown[] | null => (Array.isArray(value) ? value : null),
  "must be an array",
);

function memberOf<Value>(read: (value: unknown) => Value | null, must: string) {
  return (body: JsonObject, name: string): Value | null => {
    const raw = body[name] ?? null;
    const value = read(raw);
    if (raw !== null && value === null) throw invalid(name, must);
    return value;
  };
}

/** An integer of at least `min`. */
export function countMember(body: JsonObject, name: string, min = 0): number | null {
  const value = numberMember(body, name);
  if (value === null || (Number.isSafeInteger(value) && value >= min)) return value;
  throw invalid(name, `must be an integer of at least ${min}`);
}

/** A string, possibly empty. Throws Failure invalid_request. */
export function expectText(value: unknown, param: string): string {
  if (typeof value !== "string") throw invalid(param, "must be a string");
  return value;
}

/** A non-empty string. */
export function requireName(value: unknown, param: string): string {
  if (value === undefined || value === null || value === "") throw missingParam(param);
  return expectText(value, param);
}

/** JSON.stringify drops undefined members. */
export function orUndefined<T>(value: T | null): T | undefined {
  return value ?? undefined;
}

export function jsonBytes(value: unknown): Uint8Array {
  return encodeText(JSON.stringify(value));
}
