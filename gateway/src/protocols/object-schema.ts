import { isObject, type JsonObject } from "./json-value.ts";

/**
 * A schema whose objects all say their properties, if only that there are none: OpenAI refuses an object without ("object schema
 * missing properties"), and a whole request for one such tool; a tool's own schema must be an object's. Other vendors'
 * callers leave that out for tools without arguments and for maps. It means the same. `strict`: what is added
 * is closed too, as the vendor wants it there. What is no schema (enum, const, default, examples) stays as it is.
 */
export function withProperties(schema: JsonObject, strict: boolean): JsonObject {
  const mended: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (schemas.has(name)) mended[name] = inEach(value, strict);
    else if (schemaMaps.has(name) && isObject(value)) mended[name] = inMap(value, strict);
    else mended[name] = value;
  }
  if (isObject(schema["properties"]) || !isOfObject(schema["type"])) return mended;
  mended["properties"] = {};
  if (!strict) return mended;
  mended["required"] ??= [];
  mended["additionalProperties"] ??= false;
  return mended;
}

/** The same of a tool's parameters, which are an object's whether they say it or not. */
export function toolParameters(parameters: JsonObject | null, strict: boolean): JsonObject {
  const schema = parameters ?? {};
  return withProperties(isOfObject(schema["type"]) ? schema : { ...schema, type: "object" }, strict);
}

function isOfObject(type: unknown): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}

/** Keywords whose value is a schema or a list of schemas, and those whose values are schemas by name. */
const schemas: ReadonlySet<string> = new Set([
  ...["items", "prefixItems", "additionalItems", "contains", "additionalProperties", "unevaluatedProperties"],
  ...["anyOf", "oneOf", "allOf", "not", "if", "then", "else"],
]);
const schemaMaps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);

function inEach(value: unknown, strict: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => inEach(one, strict));
  return isObject(value) ? withProperties(value, strict) : value;
}

function inMap(value: JsonObject, strict: boolean): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inEach(inner, strict)]));
}
