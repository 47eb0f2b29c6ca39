import { defineKind } from "../define-kind.ts";
import { xaiModels } from "../reasoning/vendor-models.ts";
import { chatWith, images, responses } from "../standard-lanes.ts";

/** Responses is its main endpoint. */
export const xai = defineKind({
  id: "xai",
  title: "xAI",
  baseUrl: "https://api.x.ai/v1",
  variable: "XAI",
  costSource: "vendor",
  apiKeyHelp: "Create one at console.x.ai, under API keys.",
  // Used by its prompt cache.
  callerHeaders: ["x-grok-conv-id"],
  reasoning: xaiModels,
  // Source: docs.x.ai, "Consumption and rate limits".
  lanes: [responses, chatWith({ reasoningField: "reasoning_content", usage: { reasoning: "beside" } }), images],
});
