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
import { geminiInteractions, geminiInteractionsCodec, geminiInteractionsWire } from "./gemini-interactions/index.ts";
import { isObject, parseFirst } from "./json/value.ts";
import { completionsWire } from "./native/completions.ts";
import { decisionsWire, geminiDecisionsWire } from "./native/decisions.ts";
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
  "openai-decisions": decisionsWire,
  "openai-transcriptions": transcriptionsWire,
  "openai-speech": speechWire,
};

/** The smallest valid request of a native dialect; null for other dialects and if there is none. */
export function smallestRequest(dialect: WireDialectId, model: string): object | null {
  const wires: Readonly<Partial<Record<WireDialectId, Wire>>> = nativeDialectWires;
  return wires[dialect]?.smallestRequest?.(model) ?? null;
}

export type CallEndpointId = Exclude<EndpointId, "video" | "adjustment">;

/** How calls of one endpoint are read and answered. */
export interface EndpointProtocol {
  readonly endpoint: CallEndpointId;
  /** The dialect of its bodies. */
  readonly wireDialect: WireDialectId;
  /** The dialect of errors, headers and events. */
  readonly dialect: Dialect;
  readonly wire: Wire;
  /** null: its calls cannot be translated. */
  readonly codec: CallerCodec | null;
}

type ProtocolRow = readonly [WireDialectId, Dialect, Wire, CallerCodec | null];

const rows: Readonly<Record<Exclude<CallEndpointId, NativeEndpointId>, ProtocolRow>> = {
  chat: ["openai-chat", openaiChat, openaiChatWire, openaiChatCodec],
  messages: ["anthropic-messages", anthropicMessages, anthropicMessagesWire, anthropicMessagesCodec],
  "count-tokens": ["anthropic-messages", anthropicMessages, countTokensWire, null],
  responses: ["openai-responses", openaiResponses, openaiResponsesWire, openaiResponsesCodec],
  "responses-compact": ["openai-responses", openaiResponses, responsesCompactWire, responsesCompactCodec],
  "input-tokens": ["openai-responses", openaiResponses, inputTokensWire, null],
  generate: ["gemini", gemini, geminiWire, geminiCodec],
  interactions: ["gemini-interactions", geminiInteractions, geminiInteractionsWire, geminiInteractionsCodec],
  "gemini-count-tokens": ["gemini", gemini, geminiCountWire, null],
  "embed-content": ["gemini-embed-content", gemini, embedContentWire, null],
  "batch-embed-contents": ["gemini-batch-embed", gemini, batchEmbedWire, null],
  "gemini-decisions": ["gemini-decisions", geminiInteractions, geminiDecisionsWire, null],
  images: ["openai-images", openaiChat, imagesWire, null],
  "image-edits": ["openai-images", openaiChat, imagesWire, null],
  "pass-through": ["any", openaiChat, rawWire, null],
};

/** The protocol of each endpoint that calls a model. Native endpoints (calls are not translated) have OpenAI's errors. */
export const endpointProtocols = Object.fromEntries([
  ...Object.entries(rows).map(([endpoint, row]) => protocolOf(endpoint, row)),
  ...Object.entries(nativeDialects).map(([endpoint, wire]) =>
    protocolOf(endpoint, [wire, openaiChat, nativeDialectWires[wire], null]),
  ),
]) as Readonly<Record<CallEndpointId, EndpointProtocol>>;

function protocolOf(endpoint: string, [wireDialect, dialect, wire, codec]: ProtocolRow) {
  return [endpoint, { endpoint, wireDialect, dialect, wire, codec }] as const;
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
  "gemini-interactions": upstreamSideOf(geminiInteractionsWire, geminiInteractions, {
    codec: geminiInteractionsCodec,
    takesUrl: isGeminiUrl,
  }),
  "bedrock-converse": upstreamSideOf(bedrockConverse, bedrockErrors, {
    codec: bedrockConverseCodec,
    takesUrl: (url) => url.startsWith("s3://"),
  }),
  // Translated by the codecs in `embeddings/`.
  "gemini-embed-content": upstreamSideOf(embeddingUpstreams["gemini-embed-content"], gemini),
  "gemini-batch-embed": upstreamSideOf(embeddingUpstreams["gemini-batch-embed"], gemini),
  "gemini-decisions": upstreamSideOf(geminiDecisionsWire, geminiInteractions, { takesUrl: isGeminiUrl }),
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

const dialectByErrorShape = {
  openai: openaiChat,
  anthropic: anthropicMessages,
  google: gemini,
  interactions: geminiInteractions,
};

/** The vendor whose error shape a body has: Claude at Google Cloud uses either, proxies a third. Null for none. */
export function refusalShape(body: Uint8Array): keyof typeof dialectByErrorShape | null {
  // Google's OpenAI-compatible endpoint wraps errors in an array.
  const reply = parseFirst(body) ?? {};
  const { error } = reply;
  if (!isObject(error) || typeof error["message"] !== "string") return null;
  if (reply["type"] === "error" && typeof error["type"] === "string") return "anthropic";
  const { code } = error;
  if (typeof code === "number" && typeof error["status"] === "string") return "google";
  return typeof code === "string" && Object.keys(error).length === 2 ? "interactions" : "openai";
}
