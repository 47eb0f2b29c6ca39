import type { ReasoningRequest } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { generationOf } from "./model-generation.ts";

/**
 * The wish to think as a thinkingConfig; null when nothing is to be said. A level and a budget together are refused by
 * the vendor: models from Gemini 3 on get a level for an effort, all others a budget.
 */
export function writeThinking(requested: ReasoningRequest | null, model: string, warn: Warn): JsonObject | null {
  if (requested === null) return null;
  const generation = generationOf(model);
  if (generation !== null && generation < thinkingSince) {
    if (requested.effort !== "none") warn("thinking is not understood by this model and was left out");
    return null;
  }
  const amount = amountOf(requested, model, generation, warn);
  const visible = requested.visible && amount["thinkingBudget"] !== 0;
  const config = { ...amount, ...(visible ? { includeThoughts: true } : {}) };
  return Object.keys(config).length === 0 ? null : config;
}

const thinkingSince = 2.5;
const levelsSince = 3;

type Effort = NonNullable<ReasoningRequest["effort"]>;

/** reference/translation §1, effort table. */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};

const levels: Readonly<Record<Effort, string>> = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
};

function amountOf(requested: ReasoningRequest, model: string, generation: number | null, warn: Warn): JsonObject {
  if (generation !== null && generation >= levelsSince && requested.effort !== null) {
    return { thinkingLevel: levelOf(requested.effort, model, warn) };
  }
  const budget = requested.budgetTokens ?? (requested.effort === null ? null : budgets[requested.effort]);
  if (budget === null) return {};
  return { thinkingBudget: generation === thinkingSince ? within(budget, requested, model, warn) : budget };
}

function levelOf(effort: Effort, model: string, warn: Warn): string {
  if (effort === "none") warn("thinking cannot be switched off on this model; the lowest level was asked for");
  const level = levels[effort];
  // The Pro models begin at LOW.
  return level === "MINIMAL" && model.includes("-pro") ? "LOW" : level;
}

/** Gemini 2.5 refuses budgets outside its ranges. Source: Gemini API docs, "Thinking", table of budgets. */
function within(budget: number, requested: ReasoningRequest, model: string, warn: Warn): number {
  const pro = model.includes("-pro");
  const most = pro ? 32_768 : 24_576;
  const least = pro ? 128 : model.includes("-lite") ? 512 : 1;
  if (budget === 0 && !pro) return 0;
  if (budget < least && (requested.effort === "none" || budget === 0)) {
    warn("thinking cannot be switched off on this model; the lowest budget was asked for");
  }
  if (budget > most && requested.budgetTokens !== null)
    warn(`the thinking budget was lowered to ${most}, the model's most`);
  return Math.min(most, Math.max(least, budget));
}
