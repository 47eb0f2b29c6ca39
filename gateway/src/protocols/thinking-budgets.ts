import type { ReasoningRequest } from "#core/index.ts";

/** Tokens that a request to reason comes to where a model takes a budget instead of a word. */
export const thinkingBudgets: Readonly<Record<NonNullable<ReasoningRequest["effort"]>, number>> = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};
