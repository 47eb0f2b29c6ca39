import { openaiLike } from "../openai-like.ts";
import { chatWith, embeddings, images, responses } from "../standard-lanes.ts";

export const together = openaiLike({
  id: "together",
  title: "Together AI",
  baseUrl: "https://api.together.ai/v1",
  variable: "TOGETHER",
  form: {
    apiKeyHelp: "Make one at api.together.ai, under Settings, API keys.",
  },
  lanes: [chatWith({ outputCapName: "max_tokens" }), responses, embeddings, images],
});
