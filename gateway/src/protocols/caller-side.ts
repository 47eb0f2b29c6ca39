import type { EndpointId, NativeEndpointId } from "#core/index.ts";
import { anthropicMessagesCodec, anthropicMessagesWire, countTokensWire } from "./anthropic-messages/index.ts";
import { anyWire } from "./any-wire.ts";
import type { CallerCodec } from "./codec.ts";
import type { Wire } from "./dialect.ts";
import { batchEmbedWire, embedContentWire } from "./embeddings/index.ts";
import { geminiCodec, geminiCountWire, geminiWire } from "./gemini/index.ts";
import { nativeWires } from "./native-wires.ts";
import { openaiChatCodec, openaiChatWire } from "./openai-chat/index.ts";
import { imagesWire } from "./openai-images/index.ts";
import {
  inputTokensWire,
  openaiResponsesCodec,
  openaiResponsesWire,
  responsesCompactCodec,
  responsesCompactWire,
} from "./openai-responses/index.ts";

/** How the bodies of one endpoint's callers are read and written. */
export interface CallerSide {
  readonly wire: Wire;
  /** null: a call of it cannot be translated. */
  readonly codec: CallerCodec | null;
}

/** The endpoints at which a model is called with a body. */
export type CallEndpointId = Exclude<EndpointId, "video">;

const sides: Readonly<Record<Exclude<CallEndpointId, NativeEndpointId>, CallerSide>> = {
  chat: { wire: openaiChatWire, codec: openaiChatCodec },
  messages: { wire: anthropicMessagesWire, codec: anthropicMessagesCodec },
  "count-tokens": { wire: countTokensWire, codec: null },
  responses: { wire: openaiResponsesWire, codec: openaiResponsesCodec },
  "responses-compact": { wire: responsesCompactWire, codec: responsesCompactCodec },
  "input-tokens": { wire: inputTokensWire, codec: null },
  generate: { wire: geminiWire, codec: geminiCodec },
  "gemini-count-tokens": { wire: geminiCountWire, codec: null },
  "embed-content": { wire: embedContentWire, codec: null },
  "batch-embed-contents": { wire: batchEmbedWire, codec: null },
  images: { wire: imagesWire, codec: null },
  "image-edits": { wire: imagesWire, codec: null },
  "pass-through": { wire: anyWire, codec: null },
};

export function callerSide(endpoint: CallEndpointId): CallerSide {
  return isNative(endpoint) ? passed[endpoint] : sides[endpoint];
}

const passed = Object.fromEntries(
  Object.entries(nativeWires).map(([endpoint, wire]): [string, CallerSide] => [endpoint, { wire, codec: null }]),
) as Readonly<Record<NativeEndpointId, CallerSide>>;

function isNative(endpoint: CallEndpointId): endpoint is NativeEndpointId {
  return endpoint in nativeWires;
}
