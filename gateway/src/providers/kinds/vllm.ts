import { compatibleFields, withCompatibleSettings } from "../compatible-settings.ts";
import { defineKind } from "../define-kind.ts";
import { openWeights } from "../reasoning/openai-models.ts";
import { withDefaultPath } from "../settings.ts";
import {
  chatWith,
  completions,
  embeddings,
  messages,
  rerank,
  responses,
  transcriptions,
  translations,
} from "../standard-lanes.ts";

/** A local server, so the provider usually needs allow_private_network. */
export const vllm = defineKind({
  id: "vllm",
  title: "vLLM",
  baseUrl: null,
  apiKey: "optional",
  apiKeyHelp: "The server's --api-key, if it has one.",
  baseUrlHelp: "The server's URL, such as http://10.0.0.7:8000. For a private address, allow the private network.",
  fields: compatibleFields,
  rootOf: (provider) => withDefaultPath(provider, "/v1"),
  reasoning: openWeights,
  lanes: [
    withCompatibleSettings(chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning" })),
    messages,
    responses,
    completions,
    embeddings,
    rerank,
    transcriptions,
    translations,
  ],
});
