import type { Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";

interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
}

/** The sampling parameters that this upstream takes together with what else is asked of it. */
export function writeSampling(turn: Turn, target: TurnTarget, thinking: boolean, warn: Warn): Sampling {
  const { topK } = turn;
  const { temperature, topP } = oneOfTwo(turn, target, warn);
  if (temperature === null && topP === null && topK === null) return {};
  if (target.traits.refusesSampling === true) {
    warn("temperature, top_p and top_k are refused by the upstream and were left out");
    return {};
  }
  if (thinking) {
    // One is the temperature of thinking: who asked for that loses nothing.
    if (temperature !== 1 || topP !== null || topK !== null) {
      warn("temperature, top_p and top_k cannot be set together with thinking and were left out");
    }
    return {};
  }
  if (temperature !== null && temperature > 1) warn("temperature was lowered to 1, the upstream's highest");
  return {
    ...(temperature === null ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
  };
}

/** Claude refuses temperature and top_p together. A value of 1 is what holds anyway, so it gives way first. */
function oneOfTwo(turn: Turn, target: TurnTarget, warn: Warn): Pick<Turn, "temperature" | "topP"> {
  const { temperature, topP } = turn;
  if (temperature === null || topP === null || !target.upstreamModel.includes("claude")) return { temperature, topP };
  if (topP === 1) return { temperature, topP: null };
  if (temperature === 1) return { temperature: null, topP };
  warn("top_p cannot be set together with temperature and was left out");
  return { temperature, topP: null };
}
