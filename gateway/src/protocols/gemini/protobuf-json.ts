import { isObject, type JsonObject, numberOf, textOf } from "../json/value.ts";

/**
 * Member names in camelCase, one level deep: protobuf's JSON mapping also accepts snake_case. Not for objects with the caller's own
 * names. Empty for other values.
 */
export function camelKeys(value: unknown): JsonObject {
  if (!isObject(value)) return {};
  if (!Object.keys(value).some((name) => name.includes("_"))) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), member]));
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Converts Gemini's Schema (an OpenAPI 3.0 subset with upper-case types and counts as strings) to JSON Schema. Source: @google/genai,
 * Schema.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const out: Record<string, unknown> = {};
  const { nullable, ...rest } = camelKeys(schema);
  for (const [name, value] of Object.entries(rest)) {
    const read = readKeyword(name, value);
    if (read !== undefined) out[name === "example" ? "examples" : name] = read;
  }
  if (nullable === true && typeof out["type"] === "string") {
    out["type"] = [out["type"], "null"];
    // An enum must include the allowed null.
    if (Array.isArray(out["enum"])) out["enum"] = [...(out["enum"] as readonly unknown[]), null];
  }
  return out;
}

const counts: ReadonlySet<string> = new Set([
  ...["maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties"],
]);

/** Undefined for keywords that JSON Schema lacks. */
function readKeyword(name: string, value: unknown): unknown {
  // Protobuf's JSON writes 64-bit counts as strings.
  if (counts.has(name))
    return numberOf(typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value) ?? undefined;
  switch (name) {
    case "type": {
      const type = textOf(value)?.toLowerCase();
      return type === "type_unspecified" ? undefined : type;
    }
    case "properties":
      if (!isObject(value)) return undefined;
      return Object.fromEntries(Object.entries(value).map(([property, inner]) => [property, innerSchema(inner)]));
    case "items":
      return isObject(value) ? toJsonSchema(value) : undefined;
    case "additionalProperties":
      return innerSchema(value);
    case "anyOf":
    case "prefixItems":
      return Array.isArray(value) ? value.map(innerSchema) : [];
    case "example":
      return [value];
    case "format":
      return value === "enum" ? undefined : value;
    case "propertyOrdering":
      return undefined;
    default:
      return value;
  }
}

function innerSchema(schema: unknown): unknown {
  return isObject(schema) ? toJsonSchema(schema) : schema;
}
