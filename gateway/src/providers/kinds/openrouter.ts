import { defineKind } from "../define-kind.ts";
import { chatWith, embeddings, messages, responses } from "../standard-lanes.ts";

/** Model names include the vendor: anthropic/claude-…. */
export const openrouter = defineKind({
  id: "openrouter",
  title: "OpenRouter",
  baseUrl: "https://openrouter.ai/api/v1",
  variable: "OPENROUTER",
  costSource: "vendor",
  apiKeyHelp: "Create one at openrouter.ai, under Keys.",
  memberRules: {
    provider: {
      refused: "The providers behind this upstream are chosen by the gateway: leave provider out, or ask its operator.",
    },
  },
  // Shown in its list of apps.
  callerHeaders: ["http-referer", "x-title"],
  lanes: [chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning" }), messages, responses, embeddings],
});
