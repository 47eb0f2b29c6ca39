import { authorizeApiKey, classifyAnthropicShaped } from "../anthropic-shaped.ts";
import { withVersion } from "../base-url.ts";
import type { ProviderKind } from "../kind.ts";
import { anthropicFactors } from "../price-factors.ts";
import { claudeModels } from "../reasoning/claude-models.ts";
import { countTokens, messages } from "../standard-lanes.ts";

/** The base URL may be written with or without /v1: the vendor's SDK puts it there itself. */
export const anthropic: ProviderKind = {
  id: "anthropic",
  title: "Anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  envKey: "ANTHROPIC_API_KEY",
  envBaseUrl: "ANTHROPIC_BASE_URL",
  form: {
    baseUrlHelp: "With or without /v1 at its end.",
    apiKeyHelp: "Create one at console.anthropic.com, under API keys.",
  },
  priceFactors: anthropicFactors,
  reasoning: claudeModels,
  lanes: [messages, countTokens],
  rootOf: withVersion,
  modelsQuery: "limit=1000",
  authorize: authorizeApiKey,
  classify: classifyAnthropicShaped,
  // https://platform.claude.com/docs/en/about-claude/pricing, read on 2026-11-22.
  starterModels: [{ name: "claude-sonnet-5-5" }, { name: "claude-opus-5-5" }, { name: "claude-haiku-5-5" }],
};
