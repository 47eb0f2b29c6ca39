import type { ReasoningRequest } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { countOf, isObject, type JsonObject, textMember, textOf } from "../json/value.ts";
import { warnOfUnasked } from "../turn/warnings.ts";

type Effort = NonNullable<ReasoningRequest["effort"]>;

/**
 * `reasoning_effort`, and the `thinking` object that several vendors of this dialect take beside it. The dialect has
 * no way to ask for the thoughts themselves; who sends `thinking` or `include_reasoning` wants to see them.
 */
export function readReasoning(request: JsonObject, warn: Warn): ReasoningRequest | null {
  const said = textMember(request, "reasoning_effort");
  const effort = said !== null && isEffort(said) ? said : null;
  if (said !== null && effort === null) warn("this reasoning_effort is not understood and was left out");
  const unified = request["reasoning"];
  if (said === null && isObject(unified)) return readUnified(unified, warn);
  const thinking = isObject(request["thinking"]) ? request["thinking"] : null;
  const visible = request["include_reasoning"] === true || (thinking !== null && thinking["type"] !== "disabled");
  if (thinking?.["type"] === "disabled") return { effort: effort ?? "none", budgetTokens: null, visible };
  const budgetTokens = thinking === null ? null : countOf(thinking["budget_tokens"]);
  return effort === null && budgetTokens === null && !visible ? null : { effort, budgetTokens, visible };
}

/**
 * OpenRouter's `reasoning` of a chat request, which clients made for it send to every gateway. Source: openrouter.ai/docs,
 * "Reasoning Tokens".
 */
function readUnified(reasoning: JsonObject, warn: Warn): ReasoningRequest | null {
  warnOfUnasked(reasoning, ofReasoning, "reasoning", warn);
  const said = textOf(reasoning["effort"]);
  const effort = said !== null && isEffort(said) ? said : null;
  if (said !== null && effort === null) warn("this reasoning.effort is not understood and was left out");
  if (reasoning["enabled"] === false) return { effort: "none", budgetTokens: null, visible: false };
  const budgetTokens = countOf(reasoning["max_tokens"]);
  const isAsked = effort !== null || budgetTokens !== null || reasoning["enabled"] === true;
  return isAsked ? { effort, budgetTokens, visible: reasoning["exclude"] !== true && effort !== "none" } : null;
}

const ofReasoning: ReadonlySet<string> = new Set(["effort", "max_tokens", "exclude", "enabled", "summary"]);

/** The effort to ask an upstream for; null leaves it to the model. */
export function chatEffort(requested: ReasoningRequest | null): Effort | null {
  if (requested === null) return null;
  return requested.effort ?? (requested.budgetTokens === null ? null : effortOfBudget(requested.budgetTokens));
}

const efforts: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] satisfies Effort[];

function isEffort(value: string): value is Effort {
  return efforts.includes(value);
}

/** A budget in tokens as the effort whose usual budget it reaches. */
function effortOfBudget(tokens: number): Effort {
  if (tokens <= 0) return "none";
  if (tokens < 2_048) return "minimal";
  if (tokens < 8_192) return "low";
  if (tokens < 16_384) return "medium";
  return tokens < 32_768 ? "high" : "xhigh";
}
