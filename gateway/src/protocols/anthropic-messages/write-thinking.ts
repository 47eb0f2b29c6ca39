import type { ReasoningRequest, Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { fitReasoning } from "../turn/reasoning.ts";
import { type Effort, effortWithin, type ReasoningTraits, thinkingBudgets } from "../turn/reasoning-traits.ts";
import { isForced } from "../turn/tool-calls.ts";
import { isThinking, type Message } from "./write-messages.ts";

const outputTokensDefault = 8_192;
const budgetMin = 1_024;

/** The thinking settings and the output cap they need. */
export function planThinking(turn: Turn, target: TurnTarget, messages: readonly Message[], warn: Warn) {
  const outputDefault = target.traits.outputTokensDefault ?? outputTokensDefault;
  const maxTokens = turn.outputTokensMax ?? outputDefault;
  const plan = (thinking: JsonObject | null, effort: Effort | null = null) => ({ maxTokens, thinking, effort });
  const requested = turn.reasoning;
  const traits = target.traits.reasoning ?? {};
  if (requested === null) {
    if (!mustNotThink(turn, traits)) return plan(null);
    warn("thinking was disabled: a forced tool choice excludes it");
    return plan({ type: "disabled" });
  }
  const adaptive = thinksAdaptively(target.upstreamModel);
  const off = requested.effort === "none" || requested.budgetTokens === 0;
  if (adaptive && traits.always === true) {
    if (off) {
      warn("reasoning cannot be disabled on this model: the lowest effort was used");
      return plan({ type: "adaptive", display: "omitted" }, "low");
    }
  } else if (off || isExcluded(turn, traits, adaptive, messages, warn)) {
    return plan({ type: traits.least ?? "disabled" });
  }
  if (adaptive) {
    const { effort } = fitReasoning(requested, effortOf(requested), traits, warn);
    return plan({ type: "adaptive", display: requested.visible ? "summarized" : "omitted" }, effort);
  }
  const wanted = Math.max(budgetMin, requested.budgetTokens ?? thinkingBudgets[requested.effort ?? "medium"]);
  const fitted = fit(wanted, turn.outputTokensMax, outputDefault, warn);
  return { ...plan({ type: "enabled", budget_tokens: fitted.budget }), maxTokens: fitted.maxTokens };
}

/** Claude 4.6 and later takes an effort, earlier models and other vendors a budget. Names without a number are later models. */
export function thinksAdaptively(model: string): boolean {
  const name = /claude-(?:[a-z]+-)?(?:(\d+)(?:[-.](\d{1,2})(?!\d))?)?/.exec(model);
  if (name === null) return false;
  const [, major, minor] = name;
  if (major === undefined) return true;
  return Number(major) * 100 + Number(minor ?? 0) >= 406;
}

/** Settings that Anthropic refuses together with thinking. */
function isExcluded(
  turn: Turn,
  traits: ReasoningTraits,
  adaptive: boolean,
  messages: readonly Message[],
  warn: Warn,
): boolean {
  // A forced tool choice that the model accepts takes precedence.
  const takesForce =
    traits.refusesForcedTools !== true && (traits.always !== true || traits.forcesNoToolsThinking === undefined);
  if (isForced(turn.toolChoice) && turn.tools.length > 0 && takesForce) {
    warn("thinking was disabled: a forced tool choice excludes it");
    return true;
  }
  if (messages.at(-1)?.role === "assistant") {
    warn("thinking was disabled: the conversation ends with the assistant");
    return true;
  }
  if (adaptive || !loopStartsWithoutThought(messages)) return false;
  warn("thinking was disabled: an earlier tool call came without its thinking");
  return true;
}

function loopStartsWithoutThought(messages: readonly Message[]): boolean {
  let at = messages.length - 1;
  while (at > 0 && messages[at]?.content.some((block) => block.type === "tool_result") === true) at -= 2;
  const first = messages[at + 1]?.content[0];
  return at < messages.length - 1 && first !== undefined && !isThinking(first);
}

/** The cap includes thinking. The budget is lowered to fit the caller's cap; only a cap too small for any thinking is raised. */
function fit(
  budget: number,
  cap: number | null,
  usual: number,
  warn: Warn,
): { readonly budget: number; readonly maxTokens: number } {
  if (cap === null) return { budget, maxTokens: budget + usual };
  if (budget < cap) return { budget, maxTokens: cap };
  if (cap > budgetMin) {
    warn("the thinking budget was lowered to stay under max_tokens");
    return { budget: Math.max(budgetMin, Math.floor(cap * 0.75)), maxTokens: cap };
  }
  warn("max_tokens was raised to leave room for thinking");
  return { budget: budgetMin, maxTokens: budgetMin + cap };
}

function effortOf(requested: ReasoningRequest): Effort | null {
  if (requested.effort !== null) return effortWithin(requested.effort, "low", "max");
  const budget = requested.budgetTokens;
  if (budget === null) return null;
  if (budget <= thinkingBudgets.low) return "low";
  if (budget <= thinkingBudgets.medium) return "medium";
  return budget <= thinkingBudgets.high * 1.5 ? "high" : "max";
}

/** Whether thinking must be disabled because of a forced tool choice, for a model that thinks by default. */
function mustNotThink(turn: Turn, traits: ReasoningTraits): boolean {
  const limit = traits.always === true ? undefined : traits.forcesNoToolsThinking;
  if (limit === undefined || turn.tools.length === 0) return false;
  return limit === "named" ? turn.toolChoice?.kind === "tool" : isForced(turn.toolChoice);
}
