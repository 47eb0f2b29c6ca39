import { withDefaultPath } from "../base-url.ts";
import { openaiLike } from "../openai-like.ts";
import { chatWith, embeddings, messages, responses } from "../standard-lanes.ts";

/** A server of one's own, mostly on a private address: the provider then needs allow_private_network. */
export const vllm = openaiLike({
  id: "vllm",
  title: "vLLM",
  baseUrl: null,
  variable: null,
  rootOf: (provider) => withDefaultPath(provider, "/v1"),
  lanes: [chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning" }), messages, responses, embeddings],
});
