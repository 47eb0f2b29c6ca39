import type { ReasoningRequest } from "#core/index.ts";

export type Effort = NonNullable<ReasoningRequest["effort"]>;

/** From the least to the most. */
export const efforts: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort, or the nearest one from `least` to `most`. */
export function effortWithin(effort: Effort, least: Effort, most: Effort): Effort {
  if (efforts.indexOf(effort) < efforts.indexOf(least)) return least;
  return efforts.indexOf(effort) > efforts.indexOf(most) ? most : effort;
}

/** What one model takes of a request to reason. What is absent is not known: the wish is then told as it is. */
export interface ReasoningTraits {
  /** The efforts that it takes; it is told no others. `none` among them switches reasoning off. */
  readonly efforts?: readonly Effort[];
  /**
   * What switches reasoning on and off. Default: the effort. `thinking`: an object with `type`, enabled or disabled;
   * `enable_thinking`: true or false, and `thinking_budget` in tokens.
   */
  readonly switch?: "effort" | "thinking" | "enable_thinking";
  /** It cannot be switched off. */
  readonly always?: boolean;
  /** It does not reason. */
  readonly never?: boolean;
  /** Every tool call of its own must come back with the thoughts before it, or the request is refused. */
  readonly wantsThoughts?: boolean;
  /** anthropic-messages: thoughts are bound to everything before them, and refused where that has changed. */
  readonly bindsThoughts?: true;
  /** anthropic-messages: what Claude is told instead of `disabled`. */
  readonly least?: "between_tools";
  /** anthropic-messages: a choice that forces a tool is refused. */
  readonly refusesForcedTools?: boolean;
  /** chat and anthropic-messages: a choice that forces a tool is refused while it thinks; `named`: one that names the tool is. */
  readonly forcesNoToolsThinking?: true | "named";
}

/** Tokens that a request to reason comes to where a model takes a budget instead of a word. */
export const thinkingBudgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};
