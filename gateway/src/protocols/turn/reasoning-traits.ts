import type { ReasoningRequest } from "#core/index.ts";

export type Effort = NonNullable<ReasoningRequest["effort"]>;

/** From least to most. */
export const efforts: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort clamped to `least` … `most`. */
export function effortWithin(effort: Effort, least: Effort, most: Effort): Effort {
  if (efforts.indexOf(effort) < efforts.indexOf(least)) return least;
  return efforts.indexOf(effort) > efforts.indexOf(most) ? most : effort;
}

/** Which reasoning settings a model accepts. Absent: unknown, settings are sent as they are. */
export interface ReasoningTraits {
  /** Accepted efforts. `none` switches reasoning off. */
  readonly efforts?: readonly Effort[];
  /**
   * How reasoning is switched on and off. Default: by effort. `thinking`: an object with `type`. `enable_thinking`: a boolean, with
   * `thinking_budget` in tokens.
   */
  readonly switch?: "effort" | "thinking" | "enable_thinking";
  /** Reasoning cannot be switched off. */
  readonly always?: boolean;
  /** The model does not reason. */
  readonly never?: boolean;
  /** Tool calls must be sent back with the reasoning before them. */
  readonly wantsThoughts?: boolean;
  /** anthropic-messages: thinking blocks are refused after earlier content has changed. */
  readonly bindsThoughts?: true;
  /** anthropic-messages: sent instead of `disabled`. */
  readonly least?: "between_tools";
  /** anthropic-messages: forced tool choices are refused. */
  readonly refusesForcedTools?: boolean;
  /** chat and anthropic-messages: forced tool choices are refused while reasoning. `named`: only those of one tool. */
  readonly forcesNoToolsThinking?: true | "named";
}

/** Token budgets by effort, for models that take a budget. */
export const thinkingBudgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};
