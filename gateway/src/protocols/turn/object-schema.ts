import type { TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { isObject, type JsonObject } from "../json/value.ts";

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

/** A tool's schema for OpenAI's dialects, and whether its calls are to be held to it; null: nobody has said. */
export function toolSchema(
  { parameters, strict }: Pick<TurnTool, "parameters" | "strict">,
  warn: Warn,
): { readonly parameters: JsonObject; readonly strict: boolean | null } {
  const written = toolParameters(parameters, strict === true);
  if (strict !== true || fitsStrict(written)) return { parameters: written, strict };
  warn(
    "strict was left out of a tool whose schema the upstream cannot hold to: it has properties that are not required",
  );
  return { parameters: toolParameters(parameters, false), strict: false };
}

/** The same of a tool's parameters, which are an object's whether they say it or not. */
function toolParameters(parameters: JsonObject | null, strict: boolean): JsonObject {
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

/**
 * Whether OpenAI can hold an answer to a schema: all objects are closed, every property is required, and nothing is said that it
 * refuses there. Anthropic's strict tools may have properties that are not required; a request with one is refused whole.
 * Source: developers.openai.com, "Structured model outputs", Supported schemas.
 */
function fitsStrict(schema: JsonObject): boolean {
  for (const [name, value] of Object.entries(schema)) {
    if (refusedStrictly.has(name)) return false;
    if (name === "format" && !formats.has(value)) return false;
    if (schemas.has(name) && !(Array.isArray(value) ? value : [value]).every(innerFits)) return false;
    if (schemaMaps.has(name) && isObject(value) && !Object.values(value).every(innerFits)) return false;
  }
  const { properties, required, additionalProperties } = schema;
  if (!isObject(properties)) return !isOfObject(schema["type"]) || additionalProperties === undefined;
  const named: readonly unknown[] = Array.isArray(required) ? required : [];
  return additionalProperties === false && Object.keys(properties).every((name) => named.includes(name));
}

function innerFits(value: unknown): boolean {
  return !isObject(value) || fitsStrict(value);
}

const refusedStrictly: ReadonlySet<string> = new Set([
  ...["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"],
]);
const formats: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);
