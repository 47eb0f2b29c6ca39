import { asMaxTokens, withoutStreamOptions } from "../chat-quirks.ts";
import type { OutboundDraft } from "../kind.ts";
import { openaiLike } from "../openai-like.ts";
import { mistralModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, moderations, transcriptions } from "../standard-lanes.ts";

/** Refuses members it does not know (422 extra_forbidden), and tells usage in every stream unasked. */
export const mistral = openaiLike({
  id: "mistral",
  title: "Mistral",
  baseUrl: "https://api.mistral.ai/v1",
  variable: "MISTRAL",
  form: {
    apiKeyHelp: "Make one at console.mistral.ai, under API keys.",
  },
  reasoning: mistralModels,
  lanes: [
    { ...chatWith({ outputCapName: "max_tokens" }), adjust: asMistralTakes },
    embeddings,
    moderations,
    transcriptions,
  ],
});

function asMistralTakes(draft: OutboundDraft): void {
  asMaxTokens(draft);
  withoutStreamOptions(draft);
}
