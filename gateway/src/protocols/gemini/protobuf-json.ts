import { arrayOf, isObject, type JsonObject, numberOf, textOf } from "../json/value.ts";

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

/**
 * Gemini's own Schema (OpenAPI 3.0's subset with upper-case types and counts as strings) as JSON Schema. Depth is that
 * of the body, which was bounded when it was read. Source: @google/genai, Schema.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const out: Record<string, unknown> = {};
  const { nullable, ...rest } = camelKeys(schema);
  for (const [name, value] of Object.entries(rest)) {
    const read = member(name, value);
    if (read !== null) out[read.name] = read.value;
  }
  if (nullable === true && typeof out["type"] === "string") {
    out["type"] = [out["type"], "null"];
    // A closed list must hold the null that the type allows.
    if (Array.isArray(out["enum"])) out["enum"] = [...(out["enum"] as readonly unknown[]), null];
  }
  return out;
}

interface Member {
  readonly name: string;
  readonly value: unknown;
}

const counts: ReadonlySet<string> = new Set([
  "maxItems",
  "minItems",
  "maxLength",
  "minLength",
  "maxProperties",
  "minProperties",
]);

/** null for what JSON Schema does not know. */
function member(name: string, value: unknown): Member | null {
  if (counts.has(name)) return counted(name, value);
  switch (name) {
    case "type":
      return typed(value);
    case "properties":
      return isObject(value) ? { name, value: schemasByName(value) } : null;
    case "items":
      return isObject(value) ? { name, value: toJsonSchema(value) } : null;
    case "additionalProperties":
      return { name, value: isObject(value) ? toJsonSchema(value) : value };
    case "anyOf":
    case "prefixItems":
      return { name, value: arrayOf(value).map((schema) => (isObject(schema) ? toJsonSchema(schema) : schema)) };
    case "example":
      return { name: "examples", value: [value] };
    case "format":
      return value === "enum" ? null : { name, value };
    case "propertyOrdering":
      return null;
    default:
      return { name, value };
  }
}

function typed(value: unknown): Member | null {
  const type = textOf(value)?.toLowerCase() ?? null;
  return type === null || type === "type_unspecified" ? null : { name: "type", value: type };
}

/** 64-bit counts are strings in protobuf's JSON. */
function counted(name: string, value: unknown): Member | null {
  const count = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : numberOf(value);
  return count === null ? null : { name, value: count };
}

function schemasByName(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, isObject(schema) ? toJsonSchema(schema) : schema]),
  );
}
