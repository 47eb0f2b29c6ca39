import type { ProviderKind } from "../kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "../openai-shaped.ts";

/** Chat goes through Gemini's chat-completions endpoint. Source: Gemini API docs, "OpenAI compatibility". */
export const gemini: ProviderKind = {
  id: "gemini",
  title: "Google Gemini",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  envKey: "GEMINI_API_KEY",
  envBaseUrl: "GEMINI_BASE_URL",
  lanes: { chat: { dialect: "openai-chat", path: "/chat/completions" } },
  authorize: authorizeBearer,
  classify: classifyOpenAiShaped,
  starterModels: [
    { name: "gemini-2.5-pro", input: 1.25, cacheRead: 0.125, output: 10 },
    { name: "gemini-2.5-flash", input: 0.3, cacheRead: 0.03, output: 2.5 },
  ],
};
