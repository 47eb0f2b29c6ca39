import type { Turn } from "#core/index.ts";
import type { DialectTraits, Warn } from "./codec.ts";
import type { Effort } from "./reasoning-traits.ts";

type Sampling = Pick<Turn, "temperature" | "topP" | "presencePenalty" | "frequencyPenalty">;

/** What holds where nothing is said. */
const usual: Readonly<Record<keyof Sampling, number>> = {
  temperature: 1,
  topP: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
};
const unsaid: Sampling = { temperature: null, topP: null, presencePenalty: null, frequencyPenalty: null };

/**
 * Sampling as an upstream of OpenAI's dialects takes it. Its models that reason refuse all of it (`unsupported_value`: "Only the
 * default (1) value is supported"), but for those that can be told not to, when they are. `effort`: what the model is told.
 * Source: developers.openai.com, "Using GPT-5.1", "Parameter compatibility".
 */
export function openaiSampling(turn: Turn, traits: DialectTraits, effort: Effort | null, warn: Warn): Sampling {
  if (traits.refusesSampling === "penalties") return withoutPenalties(turn, warn);
  if (!refusesTuning(traits, effort) && traits.refusesSampling !== "fixed") return turn;
  const isLost = (Object.keys(usual) as (keyof Sampling)[]).some(
    (name) => turn[name] !== null && turn[name] !== usual[name],
  );
  if (isLost) warn("temperature, top_p and penalties are refused by a model that reasons and were left out");
  return unsaid;
}

/** "presencePenalty, frequencyPenalty and stop parameters are not supported by reasoning models": docs.x.ai, "Reasoning". */
function withoutPenalties(turn: Turn, warn: Warn): Sampling {
  const { temperature, topP, presencePenalty, frequencyPenalty } = turn;
  if ((presencePenalty ?? 0) !== 0 || (frequencyPenalty ?? 0) !== 0) {
    warn("penalties are refused by a model that reasons and were left out");
  }
  return { ...unsaid, temperature, topP };
}

/** Whether the model refuses stop sequences, told this effort. */
export function refusesStop(traits: DialectTraits, effort: Effort | null): boolean {
  return traits.refusesSampling === "penalties" || refusesTuning(traits, effort);
}

/** Whether the model refuses sampling and stop sequences, told this effort. */
function refusesTuning({ refusesSampling = false }: DialectTraits, effort: Effort | null): boolean {
  return refusesSampling === true || (refusesSampling === "while-reasoning" && effort !== "none");
}
