import type { ReasoningRequest, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { chatEffort } from "../openai-chat/reasoning.ts";
import { thinkingBudgets } from "../thinking-budgets.ts";
import type { ModelFamily } from "./model-family.ts";

/** Parameters that Converse has no name for, as each maker calls them. */
export function writeModelFields(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  return { ...writeTopK(turn.topK, family, warn), ...writeReasoning(turn, family, warn) };
}

function writeTopK(topK: number | null, family: ModelFamily, warn: Warn): JsonObject {
  if (topK === null) return {};
  if (family === "claude") return { top_k: topK };
  if (family === "nova") return { inferenceConfig: { topK } };
  warn("top_k is not understood by the upstream and was left out");
  return {};
}

function writeReasoning(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  const requested = turn.reasoning;
  if (requested === null || (requested.effort === null && requested.budgetTokens === null)) return {};
  if (family === "claude") return writeThinking(requested, turn.outputTokensMax, warn);
  const effort = chatEffort(requested);
  if (family === "gpt-oss" && effort !== null) return { reasoning_effort: gptOssEfforts[effort] };
  if (requested.effort !== "none") warn("the request to reason is not understood by the upstream and was left out");
  return {};
}

type Effort = NonNullable<ReasoningRequest["effort"]>;

const gptOssEfforts: Readonly<Record<Effort, string>> = {
  none: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

const budgetMin = 1_024;

/** The budget must be at least 1024 and leave room below the cap on output. */
function writeThinking(requested: ReasoningRequest, outputTokensMax: number | null, warn: Warn): JsonObject {
  const wanted = requested.budgetTokens ?? thinkingBudgets[requested.effort ?? "none"];
  if (wanted === 0) return { thinking: { type: "disabled" } };
  const most = outputTokensMax === null ? wanted : outputTokensMax - 1;
  const budget = Math.max(budgetMin, Math.min(wanted, most));
  if (budget > most) {
    warn("thinking needs a larger cap on output and was left out");
    return {};
  }
  return { thinking: { type: "enabled", budget_tokens: budget } };
}
