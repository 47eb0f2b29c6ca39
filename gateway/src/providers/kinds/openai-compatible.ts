import type { ProviderKind } from "../kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "../openai-shaped.ts";

/** Any server that speaks chat completions below its base URL: vLLM, llama.cpp, LM Studio, a vendor without a kind of its own. */
export const openaiCompatible: ProviderKind = {
  id: "openai-compatible",
  title: "OpenAI-compatible",
  baseUrl: null,
  envKey: null,
  envBaseUrl: null,
  lanes: { chat: { dialect: "openai-chat", path: "/chat/completions" } },
  authorize: authorizeBearer,
  classify: classifyOpenAiShaped,
  starterModels: [],
};
