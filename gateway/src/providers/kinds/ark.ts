import type { ProviderKind } from "../kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "../openai-shaped.ts";

/** Ark speaks chat completions itself. Its models are named per account, so none is offered at first start. */
export const ark: ProviderKind = {
  id: "ark",
  title: "Volcengine Ark",
  baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
  envKey: "ARK_API_KEY",
  envBaseUrl: "ARK_BASE_URL",
  lanes: { chat: { dialect: "openai-chat", path: "/chat/completions" } },
  authorize: authorizeBearer,
  classify: classifyOpenAiShaped,
  starterModels: [],
};
