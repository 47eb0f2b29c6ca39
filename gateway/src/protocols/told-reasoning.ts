import type { ReasoningRequest } from "#core/index.ts";
import type { Warn } from "./codec.ts";
import { type Effort, efforts, type ReasoningTraits } from "./reasoning-traits.ts";

/** What an upstream is told; null: nothing of that. */
export interface ToldReasoning {
  readonly effort: Effort | null;
  /** For models that have a switch. */
  readonly on: boolean | null;
}

const nothing: ToldReasoning = { effort: null, on: null };

/** A wish as a model can be told it. `asked` is its effort, from the budget where it names one. */
export function tellReasoning(
  requested: ReasoningRequest | null,
  asked: Effort | null,
  traits: ReasoningTraits,
  warn: Warn,
): ToldReasoning {
  if (requested === null || (asked === null && !requested.visible)) return nothing;
  if (traits.never === true) {
    if (asked !== null && asked !== "none") warn("this model does not reason: the wish to was left out");
    return nothing;
  }
  if (asked === "none") return switchedOff(traits, warn);
  const on = hasSwitch(traits) && traits.always !== true ? true : null;
  return { on, effort: asked === null ? null : nearest(asked, requested, traits, warn) };
}

function hasSwitch(traits: ReasoningTraits): boolean {
  return traits.switch === "thinking" || traits.switch === "enable_thinking";
}

function switchedOff(traits: ReasoningTraits, warn: Warn): ToldReasoning {
  if (traits.always !== true) {
    if (hasSwitch(traits)) return { on: false, effort: null };
    if (traits.efforts === undefined || traits.efforts.includes("none")) return { on: null, effort: "none" };
  }
  const least = traits.efforts?.find((effort) => effort !== "none") ?? null;
  warn(`reasoning cannot be switched off on this model${least === null ? "" : ": the lowest effort was asked for"}`);
  return { on: null, effort: least };
}

/** The next one that is taken; of two that are as near, the higher. A budget has no name that could be missed. */
function nearest(asked: Effort, requested: ReasoningRequest, traits: ReasoningTraits, warn: Warn): Effort | null {
  const taken: readonly Effort[] | undefined = traits.efforts?.filter((effort) => effort !== "none");
  if (taken === undefined || taken.includes(asked)) return asked;
  const distance = (effort: Effort): number => Math.abs(efforts.indexOf(effort) - efforts.indexOf(asked));
  const found = taken
    .toReversed()
    .reduce<Effort | null>(
      (best, effort) => (best === null || distance(effort) < distance(best) ? effort : best),
      null,
    );
  if (requested.effort === null) return found;
  if (found === null) warn(`the reasoning effort "${asked}" cannot be told to this model and was left out`);
  else warn(`the reasoning effort "${asked}" is not taken by this model: "${found}" was asked for`);
  return found;
}
