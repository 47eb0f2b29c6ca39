import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject } from "../json/value.ts";

/**
 * A tool's schema as Claude takes one: an object's, and at its top without `anyOf`, `oneOf` and `allOf` ("input_schema does not
 * support oneOf, allOf, or anyOf at the top level" is a 400 for the whole request, by Bedrock too). Properties of all branches are
 * its own then, and what the branches demand stands in words in its description. Inside of properties all three are taken.
 */
export function flatSchema(parameters: JsonObject | null, warn: Warn): JsonObject {
  if (parameters === null) return { type: "object", properties: {} };
  if (!joins.some((name) => name in parameters)) {
    return parameters["type"] === "object" ? parameters : { ...parameters, type: "object" };
  }
  warn("of a tool's schema anyOf, oneOf or allOf at the top were put into words: the upstream refuses them there");
  const { anyOf, oneOf, allOf, ...rest } = parameters;
  const { description } = parameters;
  const rules = JSON.stringify({ anyOf, oneOf, allOf });
  return {
    ...rest,
    type: "object",
    description: typeof description === "string" && description !== "" ? `${description}\n\n${rules}` : rules,
    properties: propertiesOf(parameters),
    required: [...new Set([...namesIn(parameters), ...demanded(parameters)])],
  };
}

const joins = ["anyOf", "oneOf", "allOf"] as const;

/** Of the schema and of all its branches. Each branch is read once, however many refer to it. */
function propertiesOf(root: JsonObject): JsonObject {
  const found = new Map<string, Map<string, unknown>>();
  const read = new Set<JsonObject>();
  const open: JsonObject[] = [root];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (read.has(schema)) continue;
    read.add(schema);
    const { properties } = schema;
    for (const [name, value] of Object.entries(isObject(properties) ? properties : {})) {
      const kinds = found.get(name) ?? new Map<string, unknown>();
      found.set(name, kinds.set(JSON.stringify(value), value));
    }
    for (const name of joins.toReversed()) open.push(...branches(schema, name, root).toReversed());
  }
  const one = (kinds: readonly unknown[]): unknown => (kinds.length === 1 ? kinds[0] : { anyOf: kinds });
  return Object.fromEntries([...found].map(([name, kinds]) => [name, one([...kinds.values()])]));
}

/** What every part, or every choice, requires. */
function demanded(root: JsonObject): string[] {
  const ofChoices = (["anyOf", "oneOf"] as const).flatMap((name) => {
    const [first, ...others] = branches(root, name, root).map(namesIn);
    if (first === undefined) return [];
    return others.reduce<readonly string[]>((common, names) => {
      const also = new Set(names);
      return common.filter((required) => also.has(required));
    }, first);
  });
  return [...branches(root, "allOf", root).flatMap(namesIn), ...ofChoices];
}

function namesIn(schema: JsonObject): string[] {
  return arrayOf(schema["required"]).filter((name) => typeof name === "string");
}

/** The branches of one kind, those behind a reference into this schema too. */
function branches(schema: JsonObject, name: (typeof joins)[number], root: JsonObject): JsonObject[] {
  const found = arrayOf(schema[name]).map((branch) => (isObject(branch) ? referred(branch, root) : {}));
  return [...new Set(found)];
}

function referred(branch: JsonObject, root: JsonObject): JsonObject {
  const [, at = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(branch["$ref"] ?? "")) ?? [];
  const definitions = root[at];
  const target = isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  return isObject(target) ? target : branch;
}
