import {
  type EndpointId,
  type MediaPart,
  type NativeDialectId,
  type NativeEndpointId,
  nativeDialects,
  type WireDialectId,
} from "#core/index.ts";
import {
  anthropicMessages,
  anthropicMessagesCodec,
  anthropicMessagesWire,
  countTokensWire,
} from "./anthropic-messages/index.ts";
import { bedrockConverse, bedrockConverseCodec, bedrockErrors } from "./bedrock-converse/index.ts";
import type { CallerCodec, UpstreamCodec } from "./codec.ts";
import type { Dialect, ReplyReader, UpstreamRefusal, Wire } from "./dialect.ts";
import { batchEmbedWire, embedContentWire, embeddingUpstreams } from "./embeddings/index.ts";
import { gemini, geminiCodec, geminiCountWire, geminiWire, isGeminiUrl } from "./gemini/index.ts";
import { isObject, parseFirst } from "./json/value.ts";
import { completionsWire } from "./native/completions.ts";
import { speechWire } from "./native/speech.ts";
import { embeddingsWire, moderationsWire, rerankWire } from "./native/text-wires.ts";
import { transcriptionsWire } from "./native/transcriptions.ts";
import { openaiChat, openaiChatCodec, openaiChatWire } from "./openai-chat/index.ts";
import { imagesWire } from "./openai-images/index.ts";
import {
  inputTokensWire,
  openaiResponses,
  openaiResponsesCodec,
  openaiResponsesWire,
  responsesCompactCodec,
  responsesCompactWire,
} from "./openai-responses/index.ts";
import { rawWire } from "./raw-wire.ts";

/** Dialects that are never translated. */
const nativeDialectWires: Readonly<Record<NativeDialectId, Wire>> = {
  "openai-completions": completionsWire,
  "openai-embeddings": embeddingsWire,
  rerank: rerankWire,
  "openai-moderations": moderationsWire,
  "openai-transcriptions": transcriptionsWire,
  "openai-speech": speechWire,
};

/** The smallest request of a native dialect; null for others and where there is none. */
export function smallestRequest(dialect: WireDialectId, model: string): object | null {
  const wires: Readonly<Partial<Record<WireDialectId, Wire>>> = nativeDialectWires;
  return wires[dialect]?.smallestRequest?.(model) ?? null;
}

/** How requests on one endpoint are read and answers written. */
export interface CallerSide {
  readonly wire: Wire;
  /** Null if calls cannot be translated. */
  readonly codec: CallerCodec | null;
}

export type CallEndpointId = Exclude<EndpointId, "video">;

const nativeCallers = Object.fromEntries(
  Object.entries(nativeDialects).map(([endpoint, dialect]): [string, CallerSide] => [
    endpoint,
    { wire: nativeDialectWires[dialect], codec: null },
  ]),
) as Readonly<Record<NativeEndpointId, CallerSide>>;

const callers: Readonly<Record<CallEndpointId, CallerSide>> = {
  ...nativeCallers,
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
  "pass-through": { wire: rawWire, codec: null },
};

export function callerSide(endpoint: CallEndpointId): CallerSide {
  return callers[endpoint];
}

/** How requests to upstreams of a dialect are written and answers read. */
export interface UpstreamSide {
  readonly replyReader: ReplyReader;
  /** Null if nothing is translated into it. */
  readonly codec: UpstreamCodec | null;
  /** URLs that upstreams can read themselves. Null: all. */
  readonly takesUrl: ((url: string) => boolean) | null;
  /** Media that requests can name by URL. Absent: all. */
  readonly namedMedia?: ReadonlySet<MediaPart["kind"]>;
  readonly errors: Pick<Dialect, "errorShape" | "readRefusal">;
}

const nativeUpstreams = Object.fromEntries(
  Object.entries(nativeDialectWires).map(([dialect, wire]) => [dialect, upstreamSideOf(wire, openaiChat)]),
) as Readonly<Record<NativeDialectId, UpstreamSide>>;

const upstreams: Readonly<Record<WireDialectId, UpstreamSide>> = {
  ...nativeUpstreams,
  "openai-chat": upstreamSideOf(openaiChatWire, openaiChat, {
    codec: openaiChatCodec,
    namedMedia: new Set(["image", "video"]),
  }),
  "openai-responses": upstreamSideOf(openaiResponsesWire, openaiResponses, { codec: openaiResponsesCodec }),
  "anthropic-messages": upstreamSideOf(anthropicMessagesWire, anthropicMessages, { codec: anthropicMessagesCodec }),
  gemini: upstreamSideOf(geminiWire, gemini, { codec: geminiCodec, takesUrl: isGeminiUrl }),
  "bedrock-converse": upstreamSideOf(bedrockConverse, bedrockErrors, {
    codec: bedrockConverseCodec,
    takesUrl: (url) => url.startsWith("s3://"),
  }),
  // Translated by the codecs in `embeddings/`.
  "gemini-embed-content": upstreamSideOf(embeddingUpstreams["gemini-embed-content"], gemini),
  "gemini-batch-embed": upstreamSideOf(embeddingUpstreams["gemini-batch-embed"], gemini),
  "vertex-predict": upstreamSideOf(embeddingUpstreams["vertex-predict"], gemini),
  "titan-embeddings": upstreamSideOf(embeddingUpstreams["titan-embeddings"], bedrockErrors),
  "cohere-on-bedrock": upstreamSideOf(embeddingUpstreams["cohere-on-bedrock"], bedrockErrors),
  // Requests are completions, answers are chat completions.
  "mistral-fim": upstreamSideOf(openaiChatWire, openaiChat),
  "openai-images": upstreamSideOf(imagesWire, openaiChat),
  any: upstreamSideOf(rawWire, openaiChat),
};

function upstreamSideOf(
  replyReader: ReplyReader,
  errors: UpstreamSide["errors"],
  more: Partial<UpstreamSide> = {},
): UpstreamSide {
  return { replyReader, codec: null, takesUrl: null, errors, ...more };
}

export function upstreamSide(dialect: WireDialectId): UpstreamSide {
  return upstreams[dialect];
}

/** Reads a refusal by the shape of its body, else as the upstream's dialect. */
export function readRefusal(dialect: WireDialectId, status: number, body: Uint8Array): UpstreamRefusal {
  const shape = refusalShape(body);
  return (shape === null ? upstreams[dialect].errors : dialectByErrorShape[shape]).readRefusal(status, body);
}

const dialectByErrorShape = { openai: openaiChat, anthropic: anthropicMessages, google: gemini };

/** The vendor whose error shape a body has: Claude at Google Cloud uses either, proxies a third. Null for none. */
export function refusalShape(body: Uint8Array): keyof typeof dialectByErrorShape | null {
  // Google's OpenAI-compatible endpoint wraps errors in an array.
  const reply = parseFirst(body) ?? {};
  const { error } = reply;
  if (!isObject(error) || typeof error["message"] !== "string") return null;
  if (reply["type"] === "error" && typeof error["type"] === "string") return "anthropic";
  return typeof error["code"] === "number" && typeof error["status"] === "string" ? "google" : "openai";
}
