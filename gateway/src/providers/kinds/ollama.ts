import { openaiLike } from "../openai-like.ts";
import { ollamaModels } from "../reasoning/vendor-models.ts";
import { withDefaultPath } from "../settings.ts";
import { chatWith, completions, embeddings, messages, responses } from "../standard-lanes.ts";

/** Runs on a machine of one's own: the provider needs allow_private_network. Older versions speak chat alone. */
export const ollama = openaiLike({
  id: "ollama",
  title: "Ollama",
  baseUrl: "http://localhost:11434/v1",
  variable: null,
  apiKey: "optional",
  apiKeyHelp: "Only where something in front of the server asks for one.",
  baseUrlHelp: "A server of your own: allow the private network for this provider.",
  rootOf: (provider) => withDefaultPath(provider, "/v1"),
  reasoning: ollamaModels,
  lanes: [
    chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning", fetchesUrls: false }),
    messages,
    responses,
    completions,
    embeddings,
  ],
});
