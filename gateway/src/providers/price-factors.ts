import type { PriceFactor } from "#core/index.ts";

/** Factors for answers that were not served at the base price, in thousandths. A price's own variants come first, `usualFactors` last. */

/** https://developers.openai.com/api/docs/pricing. `fast` is an older word for priority. */
export const openaiFactors: readonly PriceFactor[] = [
  { axis: "tier", word: "ultrafast", factor: 3_000, models: /^gpt-6\.2-sol/ },
  ...tiers({ flex: 500, batch: 500, priority: 2_000, fast: 2_000, ultrafast: 6_000 }),
];

/**
 * https://platform.claude.com/docs/en/about-claude/pricing. Tier, region and speed multiply. Tokens of `priority` have the
 * base price, because its capacity is prepaid.
 */
export const anthropicFactors: readonly PriceFactor[] = [
  ...tiers({ batch: 500, priority: 1_000 }),
  { axis: "geo", word: "us", factor: 1_100 },
  { axis: "speed", word: "fast", factor: 2_000, models: /claude-(?:opus-5|fable-5-2)/ },
  { axis: "speed", word: "fast", factor: 6_000, models: /claude-opus-4-6/ },
];

/** https://ai.google.dev/gemini-api/docs/pricing. */
export const googleFactors: readonly PriceFactor[] = tiers({ flex: 500, batch: 500, priority: 1_800 });

/** https://aws.amazon.com/bedrock/pricing: no premium is published for priority, so the factor is a guess. */
export const bedrockFactors: readonly PriceFactor[] = [
  ...tiers({ flex: 500, batch: 500 }),
  { axis: "tier", word: "priority", factor: 1_750, assumed: true },
];

function tiers(factors: Readonly<Record<string, number>>): readonly PriceFactor[] {
  return Object.entries(factors).map(([word, factor]) => ({ axis: "tier", word, factor }));
}
