import type { PriceFactor } from "#core/index.ts";

/*
 * What answers cost that were not served the plain way, in thousandths of the plain price. A price's own variants count before.
 * What no table here knows is priced by `usualFactors`.
 */

/** https://developers.openai.com/api/docs/pricing. `fast` is an older word for priority. */
export const openaiFactors: readonly PriceFactor[] = [
  { axis: "tier", word: "ultrafast", factor: 3_000, models: /^gpt-6\.2-sol/ },
  ...tiers({ flex: 500, batch: 500, priority: 2_000, fast: 2_000, ultrafast: 6_000 }),
];

/**
 * https://platform.claude.com/docs/en/about-claude/pricing. Tier, region and speed multiply. `priority` is capacity that was bought
 * ahead: its tokens are listed at the plain price.
 */
export const anthropicFactors: readonly PriceFactor[] = [
  ...tiers({ batch: 500, priority: 1_000 }),
  { axis: "geo", word: "us", factor: 1_100 },
  { axis: "speed", word: "fast", factor: 2_000, models: /claude-(?:opus-5|fable-5-2)/ },
  { axis: "speed", word: "fast", factor: 6_000, models: /claude-opus-4-6/ },
];

/** https://ai.google.dev/gemini-api/docs/pricing. */
export const googleFactors: readonly PriceFactor[] = tiers({ flex: 500, batch: 500, priority: 1_800 });

/** https://aws.amazon.com/bedrock/pricing: AWS names no premium for priority, so the factor is a guess. */
export const bedrockFactors: readonly PriceFactor[] = [
  ...tiers({ flex: 500, batch: 500 }),
  { axis: "tier", word: "priority", factor: 1_750, assumed: true },
];

function tiers(factors: Readonly<Record<string, number>>): readonly PriceFactor[] {
  return Object.entries(factors).map(([word, factor]) => ({ axis: "tier", word, factor }));
}
