import { defineKind } from "../define-kind.ts";
import { openWeights } from "../reasoning/openai-models.ts";
import { chatWith, completions, embeddings, messages, rerank, responses } from "../standard-lanes.ts";

/** Model names are paths: accounts/fireworks/models/…. */
export const fireworks = defineKind({
  id: "fireworks",
  title: "Fireworks AI",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  variable: "FIREWORKS",
  apiKeyHelp: "Create one at app.fireworks.ai, under API keys.",
  // Used by its prompt cache.
  callerHeaders: ["x-session-affinity"],
  reasoning: openWeights,
  lanes: [
    chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
    messages,
    responses,
    completions,
    embeddings,
    rerank,
  ],
});
