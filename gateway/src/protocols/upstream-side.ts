import type { MediaPart, NativeDialectId, WireDialectId } from "#core/index.ts";
import { anthropicMessages, anthropicMessagesCodec, anthropicMessagesWire } from "./anthropic-messages/index.ts";
import { anyWire } from "./any-wire.ts";
import { bedrockConverse, bedrockConverseCodec, bedrockErrors } from "./bedrock-converse/index.ts";
import { nativeDialectWires } from "./caller-side.ts";
import type { UpstreamCodec } from "./codec.ts";
import type { Dialect, Listener } from "./dialect.ts";
import { type EmbeddingDialectId, embeddingUpstreams } from "./embeddings/index.ts";
import type { CallerShape } from "./errors/refusal-shape.ts";
import { gemini, geminiCodec, geminiWire, isGeminiUrl } from "./gemini/index.ts";
import { openaiChat, openaiChatCodec, openaiChatWire } from "./openai-chat/index.ts";
import { imagesWire } from "./openai-images/index.ts";
import { openaiResponses, openaiResponsesCodec, openaiResponsesWire } from "./openai-responses/index.ts";

/** What is known of a dialect as upstreams speak it. */
export interface UpstreamSide {
  /** How its generated answers are listened to. */
  readonly listener: Listener;
  /** null: nothing is translated into it. */
  readonly codec: UpstreamCodec | null;
  /** Which addresses of media its upstreams read by themselves; null: all. */
  readonly takesUrl: ((url: string) => boolean) | null;
  /** Media that its requests can name by address, where that is not all. */
  readonly namedMedia?: ReadonlySet<MediaPart["kind"]>;
  /** The shape of its refusals. */
  readonly errors: Pick<Dialect, "errorShape" | "readRefusal">;
}

const sides: Readonly<Record<Exclude<WireDialectId, NativeDialectId>, UpstreamSide>> = {
  "openai-chat": {
    listener: openaiChatWire,
    codec: openaiChatCodec,
    takesUrl: null,
    namedMedia: new Set(["image", "video"]),
    errors: openaiChat,
  },
  "openai-responses": {
    listener: openaiResponsesWire,
    codec: openaiResponsesCodec,
    takesUrl: null,
    errors: openaiResponses,
  },
  "anthropic-messages": {
    listener: anthropicMessagesWire,
    codec: anthropicMessagesCodec,
    takesUrl: null,
    errors: anthropicMessages,
  },
  gemini: { listener: geminiWire, codec: geminiCodec, takesUrl: isGeminiUrl, errors: gemini },
  "bedrock-converse": {
    listener: bedrockConverse,
    codec: bedrockConverseCodec,
    takesUrl: isS3Url,
    errors: bedrockErrors,
  },
  "gemini-embed-content": vectors("gemini-embed-content", gemini),
  "gemini-batch-embed": vectors("gemini-batch-embed", gemini),
  "vertex-predict": vectors("vertex-predict", gemini),
  "titan-embeddings": vectors("titan-embeddings", bedrockErrors),
  "cohere-on-bedrock": vectors("cohere-on-bedrock", bedrockErrors),
  // Asked as completions are, answered as chat is.
  "mistral-fim": { listener: openaiChatWire, codec: null, takesUrl: null, errors: openaiChat },
  "openai-images": { listener: imagesWire, codec: null, takesUrl: null, errors: openaiChat },
  any: { listener: anyWire, codec: null, takesUrl: null, errors: openaiChat },
};

/** Vectors are translated by a codec of their own. */
function vectors(dialect: EmbeddingDialectId, errors: UpstreamSide["errors"]): UpstreamSide {
  return { listener: embeddingUpstreams[dialect], codec: null, takesUrl: null, errors };
}

export function upstreamSide(dialect: WireDialectId): UpstreamSide {
  return isNative(dialect) ? passed[dialect] : sides[dialect];
}

/** How a refusal of this shape is read, where its own looks say more than the lane does. */
export function refusalReader(shape: CallerShape): Dialect["readRefusal"] {
  return readers[shape];
}

const readers: Readonly<Record<CallerShape, Dialect["readRefusal"]>> = {
  openai: openaiChat.readRefusal,
  anthropic: anthropicMessages.readRefusal,
  google: gemini.readRefusal,
};

const passed = Object.fromEntries(
  Object.entries(nativeDialectWires).map(([dialect, listener]): [string, UpstreamSide] => [
    dialect,
    { listener, codec: null, takesUrl: null, errors: openaiChat },
  ]),
) as Readonly<Record<NativeDialectId, UpstreamSide>>;

function isNative(dialect: WireDialectId): dialect is NativeDialectId {
  return dialect in nativeDialectWires;
}

function isS3Url(url: string): boolean {
  return url.startsWith("s3://");
}
