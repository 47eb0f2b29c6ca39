import type { EndpointId } from "#core/index.ts";
import { anthropicMessagesCodec, anthropicMessagesWire, countTokensWire } from "./anthropic-messages/index.ts";
import type { CallerCodec } from "./codec.ts";
import type { Wire } from "./dialect.ts";
import { geminiCodec, geminiWire } from "./gemini/index.ts";
import { openaiChatCodec, openaiChatWire } from "./openai-chat/index.ts";
import { embeddingsWire } from "./openai-embeddings/index.ts";
import { imagesWire } from "./openai-images/index.ts";
import { openaiResponsesCodec, openaiResponsesWire, responsesCompactWire } from "./openai-responses/index.ts";

/** How the bodies of one endpoint's callers are read and written. */
export interface CallerSide {
  readonly wire: Wire;
  /** null: a call of it cannot be translated. */
  readonly codec: CallerCodec | null;
}

/** The endpoints at which a model is called with a body. */
export type CallEndpointId = Exclude<EndpointId, "video">;

const sides: Readonly<Record<CallEndpointId, CallerSide>> = {
  chat: { wire: openaiChatWire, codec: openaiChatCodec },
  messages: { wire: anthropicMessagesWire, codec: anthropicMessagesCodec },
  "count-tokens": { wire: countTokensWire, codec: null },
  responses: { wire: openaiResponsesWire, codec: openaiResponsesCodec },
  // What a compaction is made of can be read by its maker only, so it is never translated.
  "responses-compact": { wire: responsesCompactWire, codec: null },
  generate: { wire: geminiWire, codec: geminiCodec },
  images: { wire: imagesWire, codec: null },
  "image-edits": { wire: imagesWire, codec: null },
  embeddings: { wire: embeddingsWire, codec: null },
};

export function callerSide(endpoint: CallEndpointId): CallerSide {
  return sides[endpoint];
}
