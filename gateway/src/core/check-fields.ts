import type { FieldType, RequestField, RequestFields } from "@sluice/contract/words";
import { Failure } from "./failure.ts";

interface Values {
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly array: readonly unknown[];
  readonly object: Readonly<Record<string, unknown>>;
}

type Value<Field> = Field extends { readonly type: infer Type }
  ? Values[Extract<Type extends readonly (infer One)[] ? One : Type, FieldType>]
  : unknown;

/** A body that matches a table of fields. */
export type Checked<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends { readonly required: true }
    ? Value<Fields[Name]>
    : Value<Fields[Name]> | null | undefined;
};

/**
 * Checks the members of a parsed body against the contract's table; null counts as absent. Throws Failure missing_required_parameter or
 * invalid_request for the first problem.
 */
export function checkFields<Fields extends RequestFields>(
  body: Readonly<Record<string, unknown>>,
  fields: Fields,
): Checked<Fields> {
  for (const [name, field] of Object.entries(fields)) checkField(body[name] ?? null, name, field);
  return body as Checked<Fields>;
}

export function checkField(value: unknown, name: string, field: RequestField): void {
  const isAbsent = value === null || (value === "" && (field.minLength ?? 0) > 0);
  if (isAbsent) {
    if (field.required !== true) return;
    throw new Failure("missing_required_parameter", `The parameter "${name}" is missing.`, { param: name });
  }
  const problem = problemOf(value, field);
  if (problem !== null) throw new Failure("invalid_request", `The parameter "${name}" ${problem}.`, { param: name });
}

function problemOf(value: unknown, field: RequestField): string | null {
  const types = field.type === undefined ? [] : [field.type].flat();
  if (types.length > 0 && !types.some((type) => isOf[type](value))) {
    return field.must ?? `must be ${types.map((type) => typeWords[type]).join(" or ")}`;
  }
  if (typeof value === "string") return textProblem(value, field);
  if (typeof value === "number") return numberProblem(value, field);
  return Array.isArray(value) ? listProblem(value, field) : null;
}

function numberProblem(value: number, { minimum, maximum, must }: RequestField): string | null {
  if (minimum !== undefined && value < minimum) return must ?? `must be at least ${minimum}`;
  return maximum !== undefined && value > maximum ? (must ?? `must be at most ${maximum}`) : null;
}

function textProblem(text: string, field: RequestField): string | null {
  const { maxLength } = field;
  if (maxLength !== undefined && isLongerThan(text, maxLength)) return tooLong(maxLength);
  if (field.enum?.includes(text) === false) return field.must ?? `must be one of ${field.enum.join(", ")}`;
  if (field.pattern !== undefined && !new RegExp(field.pattern, "u").test(text))
    return field.must ?? "has another form";
  return null;
}

/** Counts characters as JSON Schema does. A character has at most two code units, so very long texts need no counting. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  return text.length > charactersMax * 2 || (text.length > charactersMax && [...text].length > charactersMax);
}

export function tooLong(charactersMax: number): string {
  return `has more than ${charactersMax} characters`;
}

function listProblem(list: readonly unknown[], { minItems = 0, maxItems }: RequestField): string | null {
  if (list.length < minItems)
    return minItems === 1
      ? "must be an array with at least one item"
      : `must be an array with at least ${minItems} items`;
  return maxItems !== undefined && list.length > maxItems ? `has more than ${maxItems} items` : null;
}

const isOf = {
  string: (value: unknown) => typeof value === "string",
  boolean: (value: unknown) => typeof value === "boolean",
  integer: (value: unknown) => Number.isSafeInteger(value),
  array: (value: unknown) => Array.isArray(value),
  object: (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value),
};

/** Names of types in errors: `must be a string or an array`. */
export const typeWords = {
  string: "a string",
  boolean: "true or false",
  integer: "an integer",
  array: "an array",
  object: "an object",
};
