import type { DialectTraits, ReasoningTraits } from "#protocols/index.ts";

/** What models of some names take of a request to reason. */
export interface ReasoningRule {
  /** Of the upstream's name of the model, in small letters. */
  readonly models: RegExp;
  readonly takes: ReasoningTraits;
  /** What is different about the same models beside that. */
  readonly also?: DialectTraits;
}

/** The first rule that fits; null: nothing is known of this model. */
export function reasoningBy(rules: readonly ReasoningRule[], upstreamModel: string): ReasoningRule | null {
  const name = upstreamModel.toLowerCase();
  return rules.find(({ models }) => models.test(name)) ?? null;
}

export const never: ReasoningTraits = { never: true };
/** It reasons by its nature, and is told nothing. */
export const always: ReasoningTraits = { always: true, efforts: [] };
