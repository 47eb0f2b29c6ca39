import type { Member, Shape, ShapeOf } from "./vendor-types.ts";

/** A way from a root into a type: members by name, alternatives of unions and elements of arrays. */
export type Step =
  | { readonly member: Member; readonly of: ShapeOf }
  | { readonly alternative: Shape }
  | { readonly element: true };

/** Values that a type alone does not give, by the name of their member: what an address or coded bytes look like. */
export type Words = Readonly<Record<string, unknown>>;

export const usualWords: Words = {
  url: "https://example.com/a.png",
  image_url: "https://example.com/a.png",
  file_url: "https://example.com/a.pdf",
  fileUri: "https://example.com/a.png",
  uri: "https://example.com/page",
  data: "iVBORw0KGgo=",
  file_data: "data:application/pdf;base64,JVBERi0=",
  media_type: "image/png",
  mimeType: "image/png",
  arguments: "{}",
  schema: { type: "object", properties: { a: { type: "string" } } },
  parameters: { type: "object", properties: { a: { type: "string" } } },
  input_schema: { type: "object", properties: { a: { type: "string" } } },
  name: "look",
  index: 0,
  tool_use_id: "call_1",
  tool_call_id: "call_1",
  call_id: "call_1",
  max_tokens: 4_096,
  budget_tokens: 20_000,
  maxItems: "3",
  minItems: "3",
  maxLength: "3",
  minLength: "3",
  maxProperties: "3",
  minProperties: "3",
};

/** The least that the type allows; of an optional thing that is asked for by itself, something that says something. */
export function sampleOf(shape: Shape, name: string, words: Words, depth = 0): unknown {
  if (depth > samplesDeep) return {};
  const named = words[name];
  switch (shape.kind) {
    case "scalar":
      return shape.values.find((value) => value === named) ?? shape.values.find(asksForSomething) ?? shape.values[0];
    case "string":
      return typeof named === "string" ? named : `a ${name}`;
    case "number":
      return typeof named === "number" ? named : 1;
    case "boolean":
      return true;
    case "any":
      return named ?? { a: "b" };
    case "array":
      return [sampleOf(shape.of, name, words, depth + 1)];
    case "union":
      return shape.of.length === 0 ? { a: "b" } : sampleOf(simplest(shape.of), name, words, depth + 1);
    case "object":
      if (shape.members.length === 0) return typeof named === "object" ? named : { a: "b" };
      return leastOf(shape, words, depth);
  }
}

function leastOf(shape: ShapeOf, words: Words, depth = 0): Record<string, unknown> {
  const required = shape.members.filter((member) => !member.optional);
  return Object.fromEntries(required.map(({ name, of }) => [name, sampleOf(of, name, words, depth + 1)]));
}

/** Types that hold themselves must end somewhere. */
const samplesDeep = 12;

function asksForSomething(value: unknown): boolean {
  return value !== false && value !== "none" && value !== "auto" && value !== "default";
}

/** Another value of the same type; undefined where there is none. */
export function otherThan(value: unknown, shape: Shape): unknown {
  if (shape.kind === "scalar") return shape.values.find((other) => other !== value);
  if (shape.kind === "union") {
    for (const one of shape.of) {
      const other = otherThan(value, one);
      if (other !== undefined) return other;
    }
    return undefined;
  }
  if (typeof value === "string") return `${value}x`;
  if (typeof value === "number") return value + 1;
  return typeof value === "boolean" ? !value : undefined;
}

const plainness: readonly Shape["kind"][] = [
  "string",
  "scalar",
  "number",
  "boolean",
  "object",
  "array",
  "any",
  "union",
];

function simplest(shapes: readonly Shape[]): Shape {
  const [first] = [...shapes].sort((one, other) => plainness.indexOf(one.kind) - plainness.indexOf(other.kind));
  if (first === undefined) throw new Error("a union of nothing");
  return first;
}

/**
 * `base` with a value put in at the end of the steps: members are set, elements are added behind those that are there, and
 * what stands in the way and is of another alternative gives way to the least of the one that is asked for.
 */
export function withValue(base: unknown, steps: readonly Step[], value: unknown, words: Words): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if ("element" in step) {
    const all = Array.isArray(base) ? base : [];
    const added = withValue(undefined, rest, value, words);
    return added === undefined ? all : [...all, added];
  }
  if ("alternative" in step) {
    const { alternative } = step;
    if (fits(base, alternative)) return withValue(base, rest, value, words);
    const least = alternative.kind === "object" ? leastOf(alternative, words) : undefined;
    return withValue(least, rest, value, words);
  }
  const { name } = step.member;
  const [next, ...behind] = rest;
  if (next !== undefined && "element" in next && lonely.has(name)) {
    const [first, ...others] = listOf(base, name);
    const inner = withValue(first, behind, value, words);
    return { ...(base as object), [name]: inner === undefined ? [first, ...others] : [inner, ...others] };
  }
  const holder = typeof base === "object" && base !== null && !Array.isArray(base) ? base : leastOf(step.of, words);
  const inner = withValue((holder as Record<string, unknown>)[name], rest, value, words);
  if (inner !== undefined) return { ...holder, [name]: inner };
  const { [name]: _, ...others } = holder as Record<string, unknown>;
  return others;
}

/** Lists of which one element is all that can be asked for: it is changed, and none is added. */
const lonely: ReadonlySet<string> = new Set(["choices", "candidates"]);

function listOf(holder: unknown, name: string): readonly unknown[] {
  const list = typeof holder === "object" && holder !== null ? (holder as Record<string, unknown>)[name] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Whether a value is of this alternative, by the members that can only have one value (`type`, `role`). */
function fits(value: unknown, shape: Shape): boolean {
  if (value === undefined) return false;
  if (shape.kind === "array") return Array.isArray(value);
  if (shape.kind !== "object") return typeof value !== "object";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return shape.members.every(({ name, of, optional }) => {
    const has = (value as Record<string, unknown>)[name];
    if (has === undefined) return optional;
    return of.kind !== "scalar" || of.values.includes(has as string);
  });
}

export function pathOf(steps: readonly Step[]): string {
  let path = "";
  for (const step of steps) {
    if ("element" in step) path += "[]";
    else if ("member" in step) path += `${path === "" ? "" : "."}${step.member.name}`;
    else path += `<${labelOf(step.alternative)}>`;
  }
  return path;
}

/** What an alternative is known by: its type or role, else its only members, else its name. */
function labelOf(shape: Shape): string {
  if (shape.kind !== "object") return shape.kind;
  for (const name of ["type", "role"]) {
    const of = shape.members.find((member) => member.name === name)?.of;
    if (of?.kind === "scalar" && of.values.length === 1) return String(of.values[0]);
  }
  return shape.name;
}
