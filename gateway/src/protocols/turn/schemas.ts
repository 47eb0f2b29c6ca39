import type { AnswerFormat, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, booleanOf, isObject, type JsonObject, orUndefined, textOf } from "../json/value.ts";

/**
 * A tool schema for Claude, which refuses `anyOf`, `oneOf` and `allOf` at the top level (so does Bedrock). Properties of all branches are
 * merged, and their requirements go into the description.
 */
export function flatSchema(parameters: JsonObject | null, warn: Warn): JsonObject {
  if (parameters === null) return { type: "object", properties: {} };
  if (!joins.some((name) => name in parameters)) {
    return parameters["type"] === "object" ? parameters : { ...parameters, type: "object" };
  }
  warn("anyOf, oneOf or allOf at the top of a tool's schema were moved to its description");
  const { anyOf, oneOf, allOf, ...rest } = parameters;
  return {
    ...rest,
    type: "object",
    description: appendToDescription(parameters, JSON.stringify({ anyOf, oneOf, allOf })),
    properties: propertiesOf(parameters),
    required: [...new Set([...namesIn(parameters), ...requiredInBranches(parameters)])],
  };
}

const joins = ["anyOf", "oneOf", "allOf"] as const;

/** Properties of the schema and its branches. Each branch is read once. */
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

/** Names required by every branch. */
function requiredInBranches(root: JsonObject): string[] {
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

/** Branches of one kind, with references into this schema resolved. */
function branches(schema: JsonObject, name: (typeof joins)[number], root: JsonObject): JsonObject[] {
  const found = arrayOf(schema[name]).map((branch) => (isObject(branch) ? resolveRef(branch, root) : {}));
  return [...new Set(found)];
}

function resolveRef(branch: JsonObject, root: JsonObject): JsonObject {
  const [, at = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(branch["$ref"] ?? "")) ?? [];
  const definitions = root[at];
  const target = isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  return isObject(target) ? target : branch;
}

/**
 * A strict schema for Anthropic: closes objects and moves unsupported keywords into the description, like Anthropic's SDKs. Objects that
 * set additionalProperties or have no properties are left alone. Source: platform.claude.com, "Structured outputs", JSON Schema
 * limitations.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed: Record<string, unknown> = {};
  const unchecked: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    const written = name === "oneOf" && schema["anyOf"] === undefined ? "anyOf" : name;
    if (isUnchecked(name, value)) unchecked.push(`${name}: ${JSON.stringify(value)}`);
    else closed[written] = withInner(name, value, claudeKeywords, closedSchema);
  }
  if (isObject(schema["properties"]) && schema["additionalProperties"] === undefined) {
    closed["additionalProperties"] = false;
  }
  return unchecked.length === 0
    ? closed
    : { ...closed, description: appendToDescription(schema, `{${unchecked.join(", ")}}`) };
}

function appendToDescription({ description }: JsonObject, rules: string): string {
  return typeof description === "string" && description !== "" ? `${description}\n\n${rules}` : rules;
}

function isUnchecked(name: string, value: unknown): boolean {
  if (name === "minItems") return value !== 0 && value !== 1;
  if (name === "format") return typeof value === "string" && value !== "uri" && !formats.has(value);
  return boundKeywords.has(name) && !isObject(value);
}

const boundKeywords: ReadonlySet<string> = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
]);
/** Checked by OpenAI; Anthropic also checks URIs. */
const formats: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);

/** Keywords whose value is a schema or a list of schemas, and those with schemas by name. */
interface Keywords {
  readonly schemas: ReadonlySet<string>;
  readonly maps: ReadonlySet<string>;
}

const claudeKeywords: Keywords = {
  schemas: new Set(["items", "prefixItems", "anyOf", "oneOf", "allOf", "not"]),
  maps: new Set(["properties", "$defs", "definitions"]),
};

/** A keyword's value with its schemas changed. */
function withInner(
  name: string,
  value: unknown,
  { schemas, maps }: Keywords,
  change: (schema: JsonObject) => JsonObject,
): unknown {
  const each = (one: unknown): unknown => (Array.isArray(one) ? one.map(each) : isObject(one) ? change(one) : one);
  if (schemas.has(name)) return each(value);
  if (!maps.has(name) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, schema]) => [inner, each(schema)]));
}

/**
 * Adds empty `properties` to objects without any, which OpenAI refuses ("object schema missing properties"). `strict`: also closes them.
 */
function withProperties(schema: JsonObject, strict: boolean): JsonObject {
  const mended: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    mended[name] = withInner(name, value, openaiKeywords, (inner) => withProperties(inner, strict));
  }
  if (isObject(schema["properties"]) || !isOfObject(schema["type"])) return mended;
  mended["properties"] = {};
  if (!strict) return mended;
  mended["required"] ??= [];
  mended["additionalProperties"] ??= false;
  return mended;
}

/** A tool's schema for OpenAI's dialects, and whether it is strict. */
export function toolSchema(
  { parameters, strict }: Pick<TurnTool, "parameters" | "strict">,
  warn: Warn,
): { readonly parameters: JsonObject; readonly strict: boolean | null } {
  const written = toolParameters(parameters, strict === true);
  if (strict !== true || fitsStrict(written)) return { parameters: written, strict };
  warn("strict was dropped from a tool because the upstream cannot enforce its schema: it has optional properties");
  return { parameters: toolParameters(parameters, false), strict: false };
}

function toolParameters(parameters: JsonObject | null, strict: boolean): JsonObject {
  const schema = parameters ?? {};
  return withProperties(isOfObject(schema["type"]) ? schema : { ...schema, type: "object" }, strict);
}

function isOfObject(type: unknown): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}

const openaiKeywords: Keywords = {
  schemas: new Set([
    ...["items", "prefixItems", "additionalItems", "contains", "additionalProperties", "unevaluatedProperties"],
    ...["anyOf", "oneOf", "allOf", "not", "if", "then", "else"],
  ]),
  maps: new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]),
};

/**
 * Whether OpenAI accepts the schema as strict: objects closed, every property required, no unsupported keyword. Source:
 * developers.openai.com, "Structured model outputs", Supported schemas.
 */
function fitsStrict(schema: JsonObject): boolean {
  for (const [name, value] of Object.entries(schema)) {
    if (keywordsRefusedByStrict.has(name)) return false;
    if (name === "format" && !formats.has(value)) return false;
    if (openaiKeywords.schemas.has(name) && !(Array.isArray(value) ? value : [value]).every(innerFits)) return false;
    if (openaiKeywords.maps.has(name) && isObject(value) && !Object.values(value).every(innerFits)) return false;
  }
  const { properties, required, additionalProperties } = schema;
  if (!isObject(properties)) return !isOfObject(schema["type"]) || additionalProperties === undefined;
  const named: readonly unknown[] = Array.isArray(required) ? required : [];
  return additionalProperties === false && Object.keys(properties).every((name) => named.includes(name));
}

function innerFits(value: unknown): boolean {
  return !isObject(value) || fitsStrict(value);
}

const keywordsRefusedByStrict: ReadonlySet<string> = new Set([
  ...["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"],
]);

/** Reads an answer schema of OpenAI's dialects. */
export function namedSchema(named: JsonObject, schema: JsonObject): AnswerFormat {
  const [name, description] = [textOf(named["name"]), textOf(named["description"])];
  return { kind: "schema", name, description, schema, strict: booleanOf(named["strict"]) };
}

export function writeNamedSchema(format: AnswerFormat & { readonly kind: "schema" }): JsonObject {
  const name = (format.name ?? "").replace(/[^\w-]/g, "_").slice(0, 64) || "answer";
  const schema = withProperties(format.schema, format.strict === true);
  return { name, description: orUndefined(format.description), schema, strict: orUndefined(format.strict) };
}
