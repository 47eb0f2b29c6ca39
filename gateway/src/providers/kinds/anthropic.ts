import type { ProviderKind } from "../kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "../openai-shaped.ts";

/** Chat goes through Anthropic's own chat-completions endpoint. Source: Anthropic docs, "OpenAI SDK compatibility". */
export const anthropic: ProviderKind = {
  id: "anthropic",
  title: "Anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  envKey: "ANTHROPIC_API_KEY",
  envBaseUrl: "ANTHROPIC_BASE_URL",
  lanes: { chat: { dialect: "openai-chat", path: "/chat/completions" } },
  authorize: authorizeBearer,
  classify: classifyOpenAiShaped,
  starterModels: [
    { name: "claude-sonnet-4-5", input: 3, cacheRead: 0.3, output: 15 },
    { name: "claude-haiku-4-5", input: 1, cacheRead: 0.1, output: 5 },
    { name: "claude-opus-4-5", input: 5, cacheRead: 0.5, output: 25 },
  ],
};
