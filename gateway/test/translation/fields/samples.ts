import type { Member, Shape, ShapeOf } from "./vendor-types.ts";

/** One step from a root into a type: a member by name, an alternative of a union, or an element of an array. */
export type Step =
  | { readonly member: Member; readonly of: ShapeOf }
  | { readonly alternative: Shape }
  | { readonly element: true };

/** Sample values by member name, where the type alone does not suffice: URLs or encoded bytes, for example. */
export type SampleValues = Readonly<Record<string, unknown>>;

export const defaultValues: SampleValues = {
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
  name: "search",
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

/** The smallest value of the type, but one with an effect where a scalar has a choice. */
export function sampleOf(shape: Shape, name: string, values: SampleValues, depth = 0): unknown {
  if (depth > sampleDepthMax) return {};
  const named = values[name];
  switch (shape.kind) {
    case "scalar":
      return shape.values.find((value) => value === named) ?? shape.values.find(hasEffect) ?? shape.values[0];
    case "string":
      return typeof named === "string" ? named : `a ${name}`;
    case "number":
      return typeof named === "number" ? named : 1;
    case "boolean":
      return true;
    case "any":
      return named ?? { a: "b" };
    case "array":
      return [sampleOf(shape.of, name, values, depth + 1)];
    case "union":
      return shape.of.length === 0 ? { a: "b" } : sampleOf(simplest(shape.of), name, values, depth + 1);
    case "object":
      if (shape.members.length === 0) return typeof named === "object" ? named : { a: "b" };
      return smallestOf(shape, values, depth);
  }
}

function smallestOf(shape: ShapeOf, values: SampleValues, depth = 0): Record<string, unknown> {
  const required = shape.members.filter((member) => !member.optional);
  return Object.fromEntries(required.map(({ name, of }) => [name, sampleOf(of, name, values, depth + 1)]));
}

/** Recursive types must end somewhere. */
const sampleDepthMax = 12;

function hasEffect(value: unknown): boolean {
  return value !== false && value !== "none" && value !== "auto" && value !== "default";
}

/** Another value of the same type, or undefined if there is none. */
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

const simplicity: readonly Shape["kind"][] = [
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
  const [first] = [...shapes].sort((one, other) => simplicity.indexOf(one.kind) - simplicity.indexOf(other.kind));
  if (first === undefined) throw new Error("an empty union");
  return first;
}

/**
 * `base` with a value at the end of the steps. Members are set and elements are appended. A value of another
 * alternative on the way is replaced by the smallest value of the requested one.
 */
export function withValue(base: unknown, steps: readonly Step[], value: unknown, values: SampleValues): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if ("element" in step) {
    const all = Array.isArray(base) ? base : [];
    const added = withValue(undefined, rest, value, values);
    return added === undefined ? all : [...all, added];
  }
  if ("alternative" in step) {
    const { alternative } = step;
    if (fits(base, alternative)) return withValue(base, rest, value, values);
    const smallest = alternative.kind === "object" ? smallestOf(alternative, values) : undefined;
    return withValue(smallest, rest, value, values);
  }
  const { name } = step.member;
  const [next, ...after] = rest;
  if (next !== undefined && "element" in next && singleElementLists.has(name)) {
    const [first, ...others] = listOf(base, name);
    const inner = withValue(first, after, value, values);
    return { ...(base as object), [name]: inner === undefined ? [first, ...others] : [inner, ...others] };
  }
  const holder = typeof base === "object" && base !== null && !Array.isArray(base) ? base : smallestOf(step.of, values);
  const inner = withValue((holder as Record<string, unknown>)[name], rest, value, values);
  if (inner !== undefined) return { ...holder, [name]: inner };
  const { [name]: _, ...others } = holder as Record<string, unknown>;
  return others;
}

/** Lists with a single element, which is changed instead of appended to. */
const singleElementLists: ReadonlySet<string> = new Set(["choices", "candidates"]);

function listOf(holder: unknown, name: string): readonly unknown[] {
  const list = typeof holder === "object" && holder !== null ? (holder as Record<string, unknown>)[name] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Whether a value belongs to this alternative, by the members with a single possible value (`type`, `role`). */
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

/** The name of an alternative: its type or role, or else the name of its type. */
function labelOf(shape: Shape): string {
  if (shape.kind !== "object") return shape.kind;
  for (const name of ["type", "role"]) {
    const of = shape.members.find((member) => member.name === name)?.of;
    if (of?.kind === "scalar" && of.values.length === 1) return String(of.values[0]);
  }
  return shape.name;
}
