import { authorizeApiKey, classifyAnthropicShaped } from "../anthropic-shaped.ts";
import { withVersion } from "../base-url.ts";
import type { ProviderKind } from "../kind.ts";
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
    apiKeyHelp: "Make one at console.anthropic.com, under API keys.",
  },
  lanes: [messages, countTokens],
  rootOf: withVersion,
  modelsQuery: "limit=1000",
  authorize: authorizeApiKey,
  classify: classifyAnthropicShaped,
  starterModels: [
    { name: "claude-sonnet-4-5", input: 3, cacheRead: 0.3, cacheWrite: [3.75, 6], output: 15 },
    { name: "claude-haiku-4-5", input: 1, cacheRead: 0.1, cacheWrite: [1.25, 2], output: 5 },
    { name: "claude-opus-4-5", input: 5, cacheRead: 0.5, cacheWrite: [6.25, 10], output: 25 },
  ],
};
