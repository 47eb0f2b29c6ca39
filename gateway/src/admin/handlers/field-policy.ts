import type { Need } from "@sluice/contract";
import { meets } from "@sluice/contract/words";
import { z } from "zod";
import { Failure } from "#core/index.ts";
import { neededWords } from "./who-calls.ts";

/**
 * Where fields are not for everybody, read once from the schemas' `needs`. A path is its steps; `[]` stands for every
 * element of a list, `*` for every value of a record.
 */
export interface FieldRule {
  readonly path: readonly string[];
  readonly needs: Need;
}

export function fieldRules(schema: z.ZodType): readonly FieldRule[] {
  const rules: FieldRule[] = [];
  collect(schema, [], rules, 0);
  return Object.freeze(rules);
}

const depthMax = 12;

function collect(schema: unknown, path: readonly string[], rules: FieldRule[], depth: number): void {
  if (!(schema instanceof z.ZodType) || depth > depthMax) return;
  const needs = z.globalRegistry.get(schema)?.needs;
  if (needs !== undefined && path.length > 0) {
    rules.push({ path, needs });
    return;
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    collect(schema.unwrap(), path, rules, depth + 1);
  } else if (schema instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(schema.shape)) collect(field, [...path, name], rules, depth + 1);
  } else if (schema instanceof z.ZodArray) {
    collect(schema.element, [...path, "[]"], rules, depth + 1);
  } else if (schema instanceof z.ZodRecord) {
    collect(schema.valueType, [...path, "*"], rules, depth + 1);
  }
}

/** Throws `forbidden` for the first field of a body that the caller may not send. */
export function refuseFields(body: unknown, rules: readonly FieldRule[], held: Need): void {
  for (const rule of rules) {
    if (meets(held, rule.needs) || !isPresent(body, rule.path)) continue;
    const param = rule.path.filter((step) => step !== "[]" && step !== "*").join(".");
    throw new Failure("forbidden", `\`${param}\` can only be set by ${neededWords(rule.needs)}.`, { param });
  }
}

function isPresent(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined;
  if (value === null || typeof value !== "object") return false;
  if (step === "[]" || step === "*") return Object.values(value).some((each) => isPresent(each, rest));
  return isPresent(Reflect.get(value, step), rest);
}

/** An answer without the fields that the caller may not see. The answer itself stays as it is. */
export function withoutFields<Answer>(answer: Answer, rules: readonly FieldRule[], held: Need): Answer {
  const hidden = rules.filter((rule) => !meets(held, rule.needs));
  return hidden.length === 0
    ? answer
    : (hidden.reduce((value: unknown, rule) => without(value, rule.path), answer) as Answer);
}

function without(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return step === "[]" ? value.map((each) => without(each, rest)) : value;
  const entries = Object.entries(value);
  if (step === "*") return Object.fromEntries(entries.map(([name, each]) => [name, without(each, rest)]));
  if (rest.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== step));
  return Object.fromEntries(entries.map(([name, each]) => [name, name === step ? without(each, rest) : each]));
}
