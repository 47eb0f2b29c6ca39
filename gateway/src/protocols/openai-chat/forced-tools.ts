import type { ToolChoice, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { ReasoningTraits } from "../reasoning-traits.ts";
import { type ToldReasoning, tellReasoning } from "../told-reasoning.ts";
import { chatEffort } from "./reasoning.ts";

interface Choice {
  readonly told: ToldReasoning;
  readonly choice: ToolChoice | null;
}

/** What a model is told of reasoning, and the choice among tools that it takes together with that. */
export function reasonAndChoose(turn: Turn, traits: ReasoningTraits, warn: Warn): Choice {
  const told = tellReasoning(turn.reasoning, chatEffort(turn.reasoning), traits, warn);
  const choice = turn.toolChoice;
  if (turn.tools.length === 0 || (choice?.kind !== "any" && choice?.kind !== "tool")) return { told, choice };
  const { forcesNoToolsThinking: limit } = traits;
  const isTaken = limit === undefined || told.on === false || (limit === "named" && choice.kind === "any");
  if (isTaken) return { told, choice };
  if (traits.always !== true) {
    warn("thinking was switched off: a forced tool call excludes it");
    return { told: { effort: null, on: false }, choice };
  }
  if (limit !== "named") {
    warn("this model takes no choice that forces a tool: it was left to the model");
    return { told, choice: { kind: "auto" } };
  }
  if (turn.tools.length > 1)
    warn("this model takes no choice of one tool: it was left to the model which one it calls");
  return { told, choice: { kind: "any" } };
}
