import type { ToolChoice, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { ReasoningTraits } from "../reasoning-traits.ts";

/** The choice among tools that a model takes: some none that forces one, or none that names it, because they cannot but think. */
export function choiceOf(turn: Turn, traits: ReasoningTraits, warn: Warn): ToolChoice | null {
  const choice = turn.toolChoice;
  if (!isForced(choice)) return choice;
  const limit = traits.always === true ? traits.forcesNoToolsThinking : undefined;
  if (traits.refusesForcedTools === true || limit === true) {
    warn("this model takes no choice that forces a tool: it was left to the model");
    return { kind: "auto" };
  }
  if (limit !== "named" || choice?.kind !== "tool") return choice;
  if (turn.tools.length > 1)
    warn("this model takes no choice of one tool: it was left to the model which one it calls");
  return { kind: "any" };
}

/** Of a model that thinks by itself: whether it must be told not to, since it refuses a forced choice while it does. */
export function mustNotThink(turn: Turn, traits: ReasoningTraits): boolean {
  const limit = traits.always === true ? undefined : traits.forcesNoToolsThinking;
  if (limit === undefined || turn.tools.length === 0) return false;
  return limit === "named" ? turn.toolChoice?.kind === "tool" : isForced(turn.toolChoice);
}

/** Whether a forced choice reaches the model as it is, so that thinking gives way to it. */
export function isFreeToForce(traits: ReasoningTraits): boolean {
  return traits.refusesForcedTools !== true && (traits.always !== true || traits.forcesNoToolsThinking === undefined);
}

function isForced(choice: ToolChoice | null): boolean {
  return choice?.kind === "any" || choice?.kind === "tool";
}
