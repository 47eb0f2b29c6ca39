import { Failure } from "#core/index.ts";
import type { JsonObject } from "#protocols/index.ts";

/** Members of a caller's body where they are said; null is not said. Throw Failure invalid_request on another type. */
export function textMember(body: JsonObject, name: string): string | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === "string") return value;
  throw wrong(name, "must be a string");
}

export function booleanOf(body: JsonObject, name: string): boolean | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === "boolean") return value;
  throw wrong(name, "must be true or false");
}

/** Also a negative one. */
export function wholeNumber(body: JsonObject, name: string): number | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw wrong(name, "must be a whole number");
}

export function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `The parameter "${param}" is missing.`, { param });
}

export function wrong(param: string, why: string): Failure {
  return new Failure("invalid_request", `The parameter "${param}" ${why}.`, { param });
}
