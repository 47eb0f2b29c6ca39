import type { PriceConfig } from "@sluice/contract/config-file";

/** Prices that the data does not have, from the vendors' own pages. They fill gaps: a price of the data is never replaced. */
interface OwnPrices {
  /** Of the data. */
  readonly providers: readonly string[];
  readonly models: RegExp;
  /** The member that a model must have a price for. */
  readonly beside?: keyof PriceConfig;
  /** USD as in a price of ours. */
  readonly prices?: PriceConfig;
  /** What writing a cache for an hour or longer costs, as a multiple of the input. */
  readonly longWrites?: number;
}

/** As read on 2026-11-24. The sources stand with each; docs/operations.md lists them. */
const ownPrices: readonly OwnPrices[] = [
  // platform.claude.com/docs/en/about-claude/pricing: one-hour cache writes cost twice the input, at the clouds too.
  { providers: ["anthropic", "aws", "google"], models: /claude/, beside: "cache_write_5m", longWrites: 2 },
  // developers.openai.com/api/docs/pricing: caches kept for twelve hours cost 2.5 times the input, a container 0.03 USD.
  { providers: ["openai"], models: /./, beside: "cache_write_5m", longWrites: 2.5 },
  { providers: ["openai"], models: /./, beside: "web_search", prices: { code_session: 30 } },
  // The same page, of models that have gone from it since: sound of the audio previews.
  { providers: ["openai"], models: /^gpt-4o-audio-preview/, prices: { audio_input: 40, audio_output: 80 } },
  { providers: ["openai"], models: /^gpt-4o-mini-audio-preview/, prices: { audio_input: 10, audio_output: 20 } },
  // docs.x.ai/docs/models: searches of the web and of X, runs of code, searches of collections.
  {
    providers: ["x-ai"],
    models: /^grok-(?!voice)/,
    beside: "input",
    prices: { web_search: 5, code_session: 5, file_search: 2.5 },
  },
  // ai.google.dev/gemini-api/docs/pricing: answers grounded on Google Maps.
  { providers: ["google"], models: /^gemini-2/, beside: "web_search", prices: { map_search: 25 } },
  { providers: ["google"], models: /^gemini-(?!2)/, beside: "web_search", prices: { map_search: 14 } },
];

/** The same price with what the data lacks. */
export function withOwnPrices(price: PriceConfig, provider: string, model: string): PriceConfig {
  let filled = price;
  for (const { providers, models, beside, prices = {}, longWrites } of ownPrices) {
    if (!providers.includes(provider) || !models.test(model)) continue;
    if (beside !== undefined && price[beside] === undefined) continue;
    filled = { ...prices, ...filled };
    if (longWrites !== undefined) filled = withLongWrites(filled, longWrites);
  }
  return filled;
}

function withLongWrites(price: PriceConfig, times: number): PriceConfig {
  const { input, cache_write_1h: known, long_context: long } = price;
  if (known !== undefined || input === undefined) return price;
  const written = { ...price, cache_write_1h: wholePico(input * times) };
  if (long?.input === undefined) return written;
  return { ...written, long_context: { ...long, cache_write_1h: wholePico(long.input * times) } };
}

function wholePico(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}
