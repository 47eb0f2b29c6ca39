import { defineKind } from "../define-kind.ts";
import { moonshotModels } from "../reasoning/vendor-models.ts";
import { chatWith, messagesAt } from "../standard-lanes.ts";

/** Thinking models require reasoning_content in a tool loop. */
export const moonshot = defineKind({
  id: "moonshot",
  title: "Moonshot AI (Kimi)",
  baseUrl: "https://api.moonshot.ai/v1",
  variable: "MOONSHOT",
  baseUrlHelp: "For an account in China: https://api.moonshot.cn/v1.",
  apiKeyHelp: "Create one at platform.moonshot.ai (in China: platform.moonshot.cn), under API keys.",
  reasoning: moonshotModels,
  lanes: [
    chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
    messagesAt(/\/v1$/, "/anthropic/v1"),
  ],
});
