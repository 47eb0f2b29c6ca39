import { bounds } from "#core/index.ts";

/** How an upstream of OpenAI's chat completions counts tokens, where it differs from OpenAI. Its parts include one another there. */
export interface UsageConvention {
  /**
   * Where reasoning is counted. `beside`: in `completion_tokens_details`, not in `completion_tokens`. `total`: in `total_tokens` alone.
   * Default: in `completion_tokens`.
   */
  readonly reasoning?: "beside" | "total";
  /** Cached tokens are not in `prompt_tokens`. */
  readonly cacheBeside?: true;
  /** Tokens of a sound in the prompt are in `total_tokens` alone. */
  readonly soundInTotal?: true;
}

/**
 * Compares an upstream's total with its parts. `beyond`: tokens that no part explains, to be counted as the dearest ordinary class,
 * output. `unexplained`: how far the two differ, in either direction. A total that is absent or 0 says nothing, and neither does one
 * beside a side that is not told (null): that side is estimated.
 */
export function compareTotal(total: number | null, parts: readonly (number | null)[]): TotalComparison {
  if (total === null || total === 0) return agrees;
  let sum = 0;
  for (const part of parts) {
    if (part === null) return agrees;
    sum += part;
  }
  return { beyond: Math.max(0, total - sum), unexplained: Math.abs(total - sum) };
}

interface TotalComparison {
  readonly beyond: number;
  readonly unexplained: number;
}

const agrees: TotalComparison = Object.freeze({ beyond: 0, unexplained: 0 });

/** An upstream's own words on usage, as the ledger keeps them; `{}` where they are too long. */
export function rawUsage(reported: unknown): string {
  const text = JSON.stringify(reported) ?? "{}";
  return text.length <= bounds.rawUsageBytesMax ? text : "{}";
}
