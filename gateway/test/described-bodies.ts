import type { RequestField } from "@sluice/contract/words";
import type { JsonSchema } from "../../contract/src/openapi/types.ts";

/** Reproducible numbers from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Body = Record<string, unknown>;

/** A body that matches a schema: the required fields, some optional ones, and an unknown one. */
export function bodyOf(schema: JsonSchema, random: () => number): Body {
  const properties = fieldsOf(schema);
  const required = new Set(requiredOf(schema));
  const alternatives = (schema["anyOf"] ?? schema["oneOf"]) as readonly { readonly required: readonly string[] }[];
  const chosen = alternatives?.[Math.floor(random() * alternatives.length)]?.required ?? [];
  const excluded = schema["oneOf"] === undefined ? [] : alternatives.flatMap((each) => each.required);
  const body: Body = {};
  for (const [name, field] of properties) {
    const isWanted = required.has(name) || chosen.includes(name) || (random() < 0.4 && !excluded.includes(name));
    if (isWanted) body[name] = sampleOf(field, random);
  }
  // An alternative that is accepted but has no schema.
  for (const name of chosen) body[name] ??= "sample";
  if (random() < 0.5) body[`x_${Math.floor(random() * 1_000)}`] = anything(random);
  return body;
}

export interface BrokenBody {
  readonly what: string;
  readonly name: string;
  readonly body: Body;
}

/** For each described bound, a valid body with that bound violated. */
export function brokenBodies(schema: JsonSchema, good: Body): readonly BrokenBody[] {
  const required = requiredOf(schema);
  return fieldsOf(schema).flatMap(([name, field]) => {
    const broken = wrongValues(field).map(([what, value]) => ({ what, name, body: { ...good, [name]: value } }));
    if (!required.includes(name)) return broken;
    const { [name]: _left, ...without } = good;
    return [...broken, { what: "is missing", name, body: without }];
  });
}

function wrongValues(field: RequestField): readonly (readonly [what: string, value: unknown])[] {
  const types = typesOf(field);
  const wrong: [string, unknown][] = [];
  if (types.length > 0) wrong.push(["is of another type", types.includes("integer") ? "1" : 12.5]);
  if (types.includes("integer")) wrong.push(["is no whole number", 1.5]);
  if (field.minimum !== undefined) wrong.push(["is too small", field.minimum - 1]);
  if (field.maximum !== undefined) wrong.push(["is too large", field.maximum + 1]);
  if (field.maxLength !== undefined) wrong.push(["is too long", "x".repeat(field.maxLength + 1)]);
  if (field.minLength !== undefined && field.minLength > 0) wrong.push(["is too short", ""]);
  if (field.minItems !== undefined && field.minItems > 0) wrong.push(["has too few items", []]);
  if (field.maxItems !== undefined) {
    wrong.push(["has too many items", Array.from({ length: field.maxItems + 1 }, () => itemOf(field))]);
  }
  if (field.enum !== undefined) wrong.push(["is none of those named", "no-such-word"]);
  if (field.pattern !== undefined) wrong.push(["is not of its form", "no such form"]);
  return wrong;
}

function sampleOf(field: RequestField, random: () => number): unknown {
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  if (field.enum !== undefined) return pick(field.enum);
  if (field.examples !== undefined) return pick(field.examples);
  const types = typesOf(field);
  if (types.length === 0) return anything(random);
  switch (pick(types)) {
    case "string":
      return "x".repeat(random() < 0.2 ? (field.maxLength ?? 300) : Math.max(field.minLength ?? 0, 1 + random() * 20));
    case "boolean":
      return random() < 0.5;
    case "integer":
      return (field.minimum ?? 0) + Math.floor(random() * 1_000);
    case "array":
      return Array.from({ length: Math.max(field.minItems ?? 1, Math.floor(random() * 4)) }, () => itemOf(field));
    default:
      return { sample: anything(random) };
  }
}

function itemOf({ items }: RequestField): unknown {
  const { examples, type } = (items ?? {}) as RequestField;
  return examples?.[0] ?? (type === "object" ? {} : "sample");
}

function anything(random: () => number): unknown {
  const values = ["sample", 3, true, ["a", "b"], { a: { b: 1 } }];
  return values[Math.floor(random() * values.length)];
}

function typesOf({ type }: RequestField): readonly string[] {
  return type === undefined ? [] : [type].flat();
}

function fieldsOf(schema: JsonSchema): readonly (readonly [string, RequestField])[] {
  return Object.entries(schema["properties"] as Readonly<Record<string, RequestField>>);
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return (schema["required"] ?? []) as readonly string[];
}
