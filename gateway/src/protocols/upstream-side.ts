import type { MediaPart, NativeDialectId, WireDialectId } from "#core/index.ts";
import { anthropicMessages, anthropicMessagesCodec, anthropicMessagesWire } from "./anthropic-messages/index.ts";
import { anyWire } from "./any-wire.ts";
import { bedrockConverse, bedrockConverseCodec, bedrockErrors } from "./bedrock-converse/index.ts";
import { nativeDialectWires } from "./caller-side.ts";
import type { UpstreamCodec } from "./codec.ts";
import type { Dialect, Listener } from "./dialect.ts";
import { embeddingUpstreams } from "./embeddings/index.ts";
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

const passed = Object.fromEntries(
  Object.entries(nativeDialectWires).map(([dialect, wire]) => [dialect, side(wire, openaiChat)]),
) as Readonly<Record<NativeDialectId, UpstreamSide>>;

const sides: Readonly<Record<WireDialectId, UpstreamSide>> = {
  ...passed,
  "openai-chat": side(openaiChatWire, openaiChat, {
    codec: openaiChatCodec,
    namedMedia: new Set(["image", "video"]),
  }),
  "openai-responses": side(openaiResponsesWire, openaiResponses, { codec: openaiResponsesCodec }),
  "anthropic-messages": side(anthropicMessagesWire, anthropicMessages, { codec: anthropicMessagesCodec }),
  gemini: side(geminiWire, gemini, { codec: geminiCodec, takesUrl: isGeminiUrl }),
  "bedrock-converse": side(bedrockConverse, bedrockErrors, {
    codec: bedrockConverseCodec,
    takesUrl: (url) => url.startsWith("s3://"),
  }),
  // Vectors are translated by a codec of their own.
  "gemini-embed-content": side(embeddingUpstreams["gemini-embed-content"], gemini),
  "gemini-batch-embed": side(embeddingUpstreams["gemini-batch-embed"], gemini),
  "vertex-predict": side(embeddingUpstreams["vertex-predict"], gemini),
  "titan-embeddings": side(embeddingUpstreams["titan-embeddings"], bedrockErrors),
  "cohere-on-bedrock": side(embeddingUpstreams["cohere-on-bedrock"], bedrockErrors),
  // Asked as completions are, answered as chat is.
  "mistral-fim": side(openaiChatWire, openaiChat),
  "openai-images": side(imagesWire, openaiChat),
  any: side(anyWire, openaiChat),
};

function side(listener: Listener, errors: UpstreamSide["errors"], more: Partial<UpstreamSide> = {}): UpstreamSide {
  return { listener, codec: null, takesUrl: null, errors, ...more };
}

export function upstreamSide(dialect: WireDialectId): UpstreamSide {
  return sides[dialect];
}

const readers: Readonly<Record<CallerShape, Dialect["readRefusal"]>> = {
  openai: openaiChat.readRefusal,
  anthropic: anthropicMessages.readRefusal,
  google: gemini.readRefusal,
};

/** How a refusal of this shape is read, where its own looks say more than the lane does. */
export function refusalReader(shape: CallerShape): Dialect["readRefusal"] {
  return readers[shape];
}
