import { dropStreamOptions, renameToMaxTokens } from "../chat-quirks.ts";
import { defineKind } from "../define-kind.ts";
import { cohereModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, rerank } from "../standard-lanes.ts";

/** The compatibility API, without stream_options and schema names. */
export const cohere = defineKind({
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
        renameToMaxTokens(draft);
        dropStreamOptions(draft);
      },
    },
    embeddings,
    { ...rerank, rootOf: (root) => root.replace(/\/compatibility\/v1$/, "/v2") },
  ],
});
