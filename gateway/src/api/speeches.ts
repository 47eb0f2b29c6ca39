import {
  anthropicMessages,
  anthropicMessagesCodec,
  anthropicMessagesWire,
  countTokensWire,
  embeddingsWire,
  gemini,
  geminiCodec,
  geminiWire,
  imagesWire,
  openaiChat,
  openaiChatCodec,
  openaiChatWire,
  openaiResponses,
  openaiResponsesCodec,
  openaiResponsesWire,
  responsesCompactWire,
} from "#protocols/index.ts";
import type { Speech } from "#relay/index.ts";

/** What is spoken at each endpoint of model calls. */
export const chatSpeech: Speech = {
  endpoint: "chat",
  bodies: "openai-chat",
  dialect: openaiChat,
  wire: openaiChatWire,
  codec: openaiChatCodec,
};

export const messagesSpeech: Speech = {
  endpoint: "messages",
  bodies: "anthropic-messages",
  dialect: anthropicMessages,
  wire: anthropicMessagesWire,
  codec: anthropicMessagesCodec,
};

export const countTokensSpeech: Speech = {
  endpoint: "count-tokens",
  bodies: "anthropic-messages",
  dialect: anthropicMessages,
  wire: countTokensWire,
  codec: null,
};

export const responsesSpeech: Speech = {
  endpoint: "responses",
  bodies: "openai-responses",
  dialect: openaiResponses,
  wire: openaiResponsesWire,
  codec: openaiResponsesCodec,
};

/** What a compaction is made of can be read by its maker only, so it is never translated. */
export const compactSpeech: Speech = {
  endpoint: "responses-compact",
  bodies: "openai-responses",
  dialect: openaiResponses,
  wire: responsesCompactWire,
  codec: null,
};

export const generateSpeech: Speech = {
  endpoint: "generate",
  bodies: "gemini",
  dialect: gemini,
  wire: geminiWire,
  codec: geminiCodec,
};

export const imagesSpeech: Speech = {
  endpoint: "images",
  bodies: "openai-images",
  dialect: openaiChat,
  wire: imagesWire,
  codec: null,
};

export const imageEditsSpeech: Speech = { ...imagesSpeech, endpoint: "image-edits" };

export const embeddingsSpeech: Speech = {
  endpoint: "embeddings",
  bodies: "openai-embeddings",
  dialect: openaiChat,
  wire: embeddingsWire,
  codec: null,
};
