import type { WireDialectId } from "#core/index.ts";
import {
  anthropicMessages,
  type CallEndpointId,
  callerSide,
  type Dialect,
  gemini,
  openaiChat,
  openaiResponses,
} from "#protocols/index.ts";
import type { Speech } from "#relay/index.ts";

/** What is spoken at each endpoint of model calls. */
export const chatSpeech = speech("chat", "openai-chat", openaiChat);
export const messagesSpeech = speech("messages", "anthropic-messages", anthropicMessages);
export const countTokensSpeech = speech("count-tokens", "anthropic-messages", anthropicMessages);
export const responsesSpeech = speech("responses", "openai-responses", openaiResponses);
export const compactSpeech = speech("responses-compact", "openai-responses", openaiResponses);
export const generateSpeech = speech("generate", "gemini", gemini);
export const imagesSpeech = speech("images", "openai-images", openaiChat);
export const imageEditsSpeech = speech("image-edits", "openai-images", openaiChat);
export const embeddingsSpeech = speech("embeddings", "openai-embeddings", openaiChat);

function speech(endpoint: CallEndpointId, bodies: WireDialectId, dialect: Dialect): Speech {
  return { endpoint, bodies, dialect, ...callerSide(endpoint) };
}
