import { arrayOf, isObject, type JsonObject } from "../json/value.ts";

/**
 * A schema that is to be kept to, as Anthropic takes one: `additionalProperties: false` is said at every object, and what it does not
 * check ("For 'integer' type, property 'minimum' is not supported" is 400) stands in words in the description, as Anthropic's own SDKs
 * do it. Other vendors' callers leave the one out and write the other. An object that says otherwise, or that names no
 * properties, is left as it is for the upstream to judge. Source: platform.claude.com, "Structured outputs", JSON Schema limitations.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed: Record<string, unknown> = {};
  const unchecked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (isUnchecked(name, value)) unchecked[name] = value;
    else if (name === "oneOf" && schema["anyOf"] === undefined) closed["anyOf"] = closedAny(value);
    else if (schemas.has(name)) closed[name] = closedAny(value);
    else if (schemaMaps.has(name) && isObject(value)) closed[name] = mapped(value);
    else closed[name] = value;
  }
  if (isObject(schema["properties"]) && schema["additionalProperties"] === undefined) {
    closed["additionalProperties"] = false;
  }
  const rules = Object.entries(unchecked).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  if (rules.length === 0) return closed;
  const { description } = schema;
  const said = typeof description === "string" && description !== "" ? `${description}\n\n` : "";
  return { ...closed, description: `${said}{${rules.join(", ")}}` };
}

function isUnchecked(name: string, value: unknown): boolean {
  if (name === "minItems") return value !== 0 && value !== 1;
  if (name === "format") return typeof value === "string" && !formats.has(value);
  return bounding.has(name) && !isObject(value);
}

const bounding: ReadonlySet<string> = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
]);
const formats: ReadonlySet<string> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
]);

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
