import { bounds } from "#core/index.ts";
import { attributeNamed, type ScimAttribute } from "./scim-attributes.ts";
import { invalid } from "./scim-problem.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws invalidSyntax. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw invalid("invalidSyntax", `${what} is a JSON object.`);
}

/** A member of an object by its name in any case (RFC 7643, 2.1). */
export function memberOf(object: JsonObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(object).find((each) => each.toLowerCase() === wanted);
  return key === undefined ? undefined : object[key];
}

/**
 * A value as its attribute has one; undefined: unassigned (RFC 7643, 2.5). Text takes numbers, and a truth value takes
 * "True", since directories send them so. Throws invalidValue.
 */
export function readValue(attribute: ScimAttribute, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (attribute.multiValued !== true) return oneValue(attribute, value);
  const values = Array.isArray(value) ? value : [value];
  if (values.length > bounds.scimValuesMax) {
    throw invalid("invalidValue", `${attribute.name} has at most ${bounds.scimValuesMax} values.`);
  }
  const read = values.map((each) => oneValue(attribute, each)).filter((each) => each !== undefined);
  return read.length === 0 ? undefined : read;
}

function oneValue(attribute: ScimAttribute, value: unknown): unknown {
  if (value === null) return undefined;
  if (attribute.type === "boolean") return truthOf(attribute, value);
  if (attribute.type !== "complex") return textOf(attribute.name, value);
  const object = typeof value === "string" && attribute.multiValued === true ? { value } : value;
  if (!isObject(object)) throw invalid("invalidValue", `${attribute.name} is an object.`);
  const parts: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const part = attributeNamed(attribute.parts ?? [], key);
    const read = part === null ? undefined : readValue(part, object[key]);
    if (part !== null && read !== undefined) parts[part.name] = read;
  }
  return Object.keys(parts).length === 0 ? undefined : parts;
}

export function textOf(name: string, value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number") throw invalid("invalidValue", `${name} is text.`);
  const text = String(value);
  if (text.length > bounds.scimTextMax) {
    throw invalid("invalidValue", `${name} has at most ${bounds.scimTextMax} characters.`);
  }
  // PostgreSQL keeps no text with a zero in it.
  if (text.includes("\u0000") || !text.isWellFormed()) throw invalid("invalidValue", `${name} holds no usable text.`);
  return text;
}

function truthOf({ name }: ScimAttribute, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" ? value.toLowerCase() : "";
  if (word === "true" || word === "false") return word === "true";
  throw invalid("invalidValue", `${name} is true or false.`);
}
