import { isObject, type JsonObject } from "../json/value.ts";

/**
 * An object of the vendor's own with its member names in camelCase, one level deep: protobuf's JSON mapping takes
 * `inline_data` for `inlineData`. Not for objects whose names are the caller's (arguments, schemas). Anything that is
 * no object gives an empty one.
 */
export function camelKeys(value: unknown): JsonObject {
  if (!isObject(value)) return {};
  if (!Object.keys(value).some((name) => name.includes("_"))) return value;
  const out: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) out[camel(name)] = member;
  return out;
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
