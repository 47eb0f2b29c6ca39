import type { ProviderKind } from "../kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "../openai-shaped.ts";

/** The simulator inside this process: answers offline, so that a first call works without any provider. */
export const demo: ProviderKind = {
  id: "demo",
  title: "Built-in demo",
  baseUrl: "demo://simulator/v1",
  envKey: null,
  envBaseUrl: null,
  lanes: { chat: { dialect: "openai-chat", path: "/chat/completions" } },
  authorize: authorizeBearer,
  classify: classifyOpenAiShaped,
  starterModels: [{ name: "demo", input: 0, cacheRead: 0, output: 0 }],
};
