import { arrayOf, isObject, type JsonObject } from "../json-value.ts";

/**
 * Anthropic wants `additionalProperties: false` said at every object of an answer's schema; other vendors' callers
 * leave it out. An object that says otherwise, or that names no properties, is left as it is for the upstream to judge.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (schemas.has(name)) closed[name] = closedAny(value);
    else if (schemaMaps.has(name) && isObject(value)) closed[name] = mapped(value);
    else closed[name] = value;
  }
  if (isObject(schema["properties"]) && schema["additionalProperties"] === undefined) {
    closed["additionalProperties"] = false;
  }
  return closed;
}

/** Keywords whose value is a schema or a list of schemas, and those whose values are schemas by name. */
const schemas: ReadonlySet<string> = new Set(["items", "prefixItems", "anyOf", "oneOf", "allOf", "not"]);
const schemaMaps: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

function closedAny(value: unknown): unknown {
  if (isObject(value)) return closedSchema(value);
  return Array.isArray(value) ? arrayOf(value).map(closedAny) : value;
}

function mapped(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closedAny(inner)]));
}
