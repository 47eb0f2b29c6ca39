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
 * output. `unexplained`: how far the two differ, in either direction. A total that is absent or 0 says nothing.
 */
export function compareTotal(
  total: number | null,
  parts: number,
): { readonly beyond: number; readonly unexplained: number } {
  if (total === null || total === 0) return agrees;
  return { beyond: Math.max(0, total - parts), unexplained: Math.abs(total - parts) };
}

const agrees = Object.freeze({ beyond: 0, unexplained: 0 });
