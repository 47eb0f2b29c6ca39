import { asServersVary, compatibleFields } from "../compatible-settings.ts";
import { openaiLike } from "../openai-like.ts";
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

/** A server of one's own, mostly on a private address: the provider then needs allow_private_network. */
export const vllm = openaiLike({
  id: "vllm",
  title: "vLLM",
  baseUrl: null,
  variable: null,
  apiKey: "optional",
  apiKeyHelp: "What the server was started with as --api-key, if anything.",
  baseUrlHelp:
    "Where the server listens, such as http://10.0.0.7:8000. On a private address, allow the private network.",
  fields: compatibleFields,
  rootOf: (provider) => withDefaultPath(provider, "/v1"),
  reasoning: openWeights,
  lanes: [
    asServersVary(chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning" })),
    messages,
    responses,
    completions,
    embeddings,
    rerank,
    transcriptions,
    translations,
  ],
});
