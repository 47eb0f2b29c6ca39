import { asMaxTokens, withoutStreamOptions } from "../chat-quirks.ts";
import { openaiLike } from "../openai-like.ts";
import { cohereModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, rerank } from "../standard-lanes.ts";

/** By its compatibility API, which refuses stream_options and knows JSON output without a schema's name. */
export const cohere = openaiLike({
  id: "cohere",
  title: "Cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  variable: "COHERE",
  apiKeyHelp: "Create one at dashboard.cohere.com, under API keys.",
  reasoning: cohereModels,
  lanes: [
    {
      ...chatWith({ outputCapName: "max_tokens", noSchemaOutput: true }),
      adjust: (draft) => {
        asMaxTokens(draft);
        withoutStreamOptions(draft);
      },
    },
    embeddings,
    // Its own API stands beside the compatible one.
    { ...rerank, rootOf: (root) => root.replace(/\/compatibility\/v1$/, "/v2") },
  ],
});
