import type { ReasoningRequest, ToolChoice, Turn } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import { type Effort, efforts, type ReasoningTraits } from "./reasoning-traits.ts";
import { isForced } from "./tool-calls.ts";

/** The value sent to the upstream. null: not sent. */
export interface ReasoningSetting {
  readonly effort: Effort | null;
  /** For models with a switch. */
  readonly on: boolean | null;
}

const noSetting: ReasoningSetting = { effort: null, on: null };

/** The reasoning setting that the model accepts. `wanted`: the effort requested or implied by a budget. */
export function fitReasoning(
  requested: ReasoningRequest | null,
  wanted: Effort | null,
  traits: ReasoningTraits,
  warn: Warn,
): ReasoningSetting {
  if (requested === null || (wanted === null && !requested.visible)) return noSetting;
  if (traits.never === true) {
    if (wanted !== null && wanted !== "none") warn("this model does not reason: the request to reason was dropped");
    return noSetting;
  }
  if (wanted === "none") return switchedOff(traits, warn);
  const on = hasSwitch(traits) && traits.always !== true ? true : null;
  return { on, effort: wanted === null ? null : nearest(wanted, requested, traits, warn) };
}

function hasSwitch(traits: ReasoningTraits): boolean {
  return traits.switch === "thinking" || traits.switch === "enable_thinking";
}

function switchedOff(traits: ReasoningTraits, warn: Warn): ReasoningSetting {
  if (traits.always !== true) {
    if (hasSwitch(traits)) return { on: false, effort: null };
    if (traits.efforts === undefined || traits.efforts.includes("none")) return { on: null, effort: "none" };
  }
  const least = traits.efforts?.find((effort) => effort !== "none") ?? null;
  warn(`reasoning cannot be disabled on this model${least === null ? "" : ": the lowest effort was used"}`);
  return { on: null, effort: least };
}

/** The nearest accepted effort, the higher of two. */
function nearest(wanted: Effort, requested: ReasoningRequest, traits: ReasoningTraits, warn: Warn): Effort | null {
  const accepted: readonly Effort[] | undefined = traits.efforts?.filter((effort) => effort !== "none");
  if (accepted === undefined || accepted.includes(wanted)) return wanted;
  const distance = (effort: Effort): number => Math.abs(efforts.indexOf(effort) - efforts.indexOf(wanted));
  const found = accepted
    .toReversed()
    .reduce<Effort | null>(
      (best, effort) => (best === null || distance(effort) < distance(best) ? effort : best),
      null,
    );
  if (requested.effort === null) return found;
  if (found === null) warn(`the reasoning effort "${wanted}" is not accepted by this model and was dropped`);
  else warn(`the reasoning effort "${wanted}" is not accepted by this model: "${found}" was used`);
  return found;
}

/** The tool choice that a model accepts while it cannot stop thinking. */
export function fitToolChoice(turn: Turn, traits: ReasoningTraits, warn: Warn): ToolChoice | null {
  const choice = turn.toolChoice;
  if (!isForced(choice)) return choice;
  const limit = traits.always === true ? traits.forcesNoToolsThinking : undefined;
  if (traits.refusesForcedTools === true || limit === true) {
    warn("this model does not accept a forced tool choice: it was changed to auto");
    return { kind: "auto" };
  }
  if (limit !== "named" || choice?.kind !== "tool") return choice;
  if (turn.tools.length > 1) warn("this model does not accept the choice of one tool: it may call any");
  return { kind: "any" };
}

type Sampling = Pick<Turn, "temperature" | "topP" | "presencePenalty" | "frequencyPenalty">;

const defaultSampling: Readonly<Record<keyof Sampling, number>> = {
  temperature: 1,
  topP: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
};
const noSampling: Sampling = { temperature: null, topP: null, presencePenalty: null, frequencyPenalty: null };

/**
 * Sampling parameters that OpenAI's dialects accept. Models that reason refuse all of them unless reasoning is off. `effort`: as sent.
 * Source: developers.openai.com, "Using GPT-5.1", "Parameter compatibility".
 */
export function openaiSampling(turn: Turn, traits: DialectTraits, effort: Effort | null, warn: Warn): Sampling {
  if (traits.refusesSampling === "penalties") return withoutPenalties(turn, warn);
  if (!refusesTuning(traits, effort) && traits.refusesSampling !== "fixed") return turn;
  const isLost = (Object.keys(defaultSampling) as (keyof Sampling)[]).some(
    (name) => turn[name] !== null && turn[name] !== defaultSampling[name],
  );
  if (isLost) warn("temperature, top_p and penalties are refused by a model that reasons and were dropped");
  return noSampling;
}

/** "presencePenalty, frequencyPenalty and stop parameters are not supported by reasoning models": docs.x.ai, "Reasoning". */
function withoutPenalties(turn: Turn, warn: Warn): Sampling {
  const { temperature, topP, presencePenalty, frequencyPenalty } = turn;
  if ((presencePenalty ?? 0) !== 0 || (frequencyPenalty ?? 0) !== 0) {
    warn("penalties are refused by a model that reasons and were dropped");
  }
  return { ...noSampling, temperature, topP };
}

export function refusesStop(traits: DialectTraits, effort: Effort | null): boolean {
  return traits.refusesSampling === "penalties" || refusesTuning(traits, effort);
}

function refusesTuning({ refusesSampling = false }: DialectTraits, effort: Effort | null): boolean {
  return refusesSampling === true || (refusesSampling === "while-reasoning" && effort !== "none");
}

/** The effort requested or implied by a budget; null leaves it to the model. */
export function requestedEffort(requested: ReasoningRequest | null): Effort | null {
  if (requested === null) return null;
  return requested.effort ?? (requested.budgetTokens === null ? null : effortOfBudget(requested.budgetTokens));
}

function effortOfBudget(tokens: number): Effort {
  if (tokens <= 0) return "none";
  if (tokens < 2_048) return "minimal";
  if (tokens < 8_192) return "low";
  if (tokens < 16_384) return "medium";
  return tokens < 32_768 ? "high" : "xhigh";
}

export function readEffort(name: string | null, member: string, warn: Warn): Effort | null {
  const effort = efforts.find((known) => known === name) ?? null;
  if (name !== null && effort === null) warn(`${member} is not supported and was dropped`);
  return effort;
}
