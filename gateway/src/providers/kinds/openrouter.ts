import { openaiLike } from "../openai-like.ts";
import { chatWith, embeddings, messages, responses } from "../standard-lanes.ts";

/** Model names carry their maker: anthropic/claude-…. */
export const openrouter = openaiLike({
  id: "openrouter",
  title: "OpenRouter",
  baseUrl: "https://openrouter.ai/api/v1",
  variable: "OPENROUTER",
  form: {
    apiKeyHelp: "Make one at openrouter.ai, under Keys.",
  },
  lanes: [chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning" }), messages, responses, embeddings],
});
