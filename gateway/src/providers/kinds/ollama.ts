import { defineKind } from "../define-kind.ts";
import { ollamaModels } from "../reasoning/vendor-models.ts";
import { withDefaultPath } from "../settings.ts";
import { chatWith, completions, embeddings, messages, responses } from "../standard-lanes.ts";

/** A local server, so the provider needs allow_private_network. Older versions have chat only. */
export const ollama = defineKind({
  id: "ollama",
  title: "Ollama",
  baseUrl: "http://localhost:11434/v1",
  apiKey: "optional",
  apiKeyHelp: "Only if a proxy in front of the server requires one.",
  baseUrlHelp: "For your own server, allow the private network for this provider.",
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
