import { defineKind } from "../define-kind.ts";
import { openWeights } from "../reasoning/openai-models.ts";
import { chatWith, completions, embeddings, images, rerank, responses, speech } from "../standard-lanes.ts";

export const together = defineKind({
  id: "together",
  title: "Together AI",
  baseUrl: "https://api.together.ai/v1",
  variable: "TOGETHER",
  apiKeyHelp: "Create one at api.together.ai, under Settings, API keys.",
  reasoning: openWeights,
  lanes: [chatWith({ outputCapName: "max_tokens" }), responses, completions, embeddings, rerank, images, speech],
});
