import {
  type EndpointId,
  type NativeDialectId,
  type NativeEndpointId,
  nativeDialects,
  type WireDialectId,
} from "#core/index.ts";
import { anthropicMessagesCodec, anthropicMessagesWire, countTokensWire } from "./anthropic-messages/index.ts";
import { anyWire } from "./any-wire.ts";
import type { CallerCodec } from "./codec.ts";
import type { Wire } from "./dialect.ts";
import { batchEmbedWire, embedContentWire } from "./embeddings/index.ts";
import { geminiCodec, geminiCountWire, geminiWire } from "./gemini/index.ts";
import { openaiChatCodec, openaiChatWire } from "./openai-chat/index.ts";
import { imagesWire } from "./openai-images/index.ts";
import {
  inputTokensWire,
  openaiResponsesCodec,
  openaiResponsesWire,
  responsesCompactCodec,
  responsesCompactWire,
} from "./openai-responses/index.ts";
import { completionsWire } from "./passed/completions.ts";
import { speechWire } from "./passed/speech.ts";
import { embeddingsWire, moderationsWire, rerankWire } from "./passed/text-wires.ts";
import { transcriptionsWire } from "./passed/transcriptions.ts";

/** How the dialects that are only ever passed, never translated, are listened to. */
export const nativeDialectWires: Readonly<Record<NativeDialectId, Wire>> = {
  "openai-completions": completionsWire,
  "openai-embeddings": embeddingsWire,
  rerank: rerankWire,
  "openai-moderations": moderationsWire,
  "openai-transcriptions": transcriptionsWire,
  "openai-speech": speechWire,
};

/** The smallest request of such a dialect; null for the others, and where there is none. */
export function smallestRequest(dialect: WireDialectId, model: string): object | null {
  const wires: Readonly<Partial<Record<WireDialectId, Wire>>> = nativeDialectWires;
  return wires[dialect]?.smallestRequest?.(model) ?? null;
}

/** How the bodies of one endpoint's callers are read and written. */
export interface CallerSide {
  readonly wire: Wire;
  /** null: a call of it cannot be translated. */
  readonly codec: CallerCodec | null;
}

/** The endpoints at which a model is called with a body. */
export type CallEndpointId = Exclude<EndpointId, "video">;

/** Endpoints that speak one dialect are listened to alike. */
const passed = Object.fromEntries(
  Object.entries(nativeDialects).map(([endpoint, dialect]): [string, CallerSide] => [
    endpoint,
    { wire: nativeDialectWires[dialect], codec: null },
  ]),
) as Readonly<Record<NativeEndpointId, CallerSide>>;

const sides: Readonly<Record<CallEndpointId, CallerSide>> = {
  ...passed,
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
  return sides[endpoint];
}
