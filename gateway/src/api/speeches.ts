import { type NativeEndpointId, nativeDialects, type WireDialectId } from "#core/index.ts";
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
export const inputTokensSpeech = speech("input-tokens", "openai-responses", openaiResponses);
export const generateSpeech = speech("generate", "gemini", gemini);
export const geminiCountTokensSpeech = speech("gemini-count-tokens", "gemini", gemini);
export const embedContentSpeech = speech("embed-content", "gemini-embed-content", gemini);
export const batchEmbedSpeech = speech("batch-embed-contents", "gemini-batch-embed", gemini);
export const imagesSpeech = speech("images", "openai-images", openaiChat);
export const imageEditsSpeech = speech("image-edits", "openai-images", openaiChat);

/** Of an endpoint whose calls are passed as they are; OpenAI's errors. */
export function nativeSpeech(endpoint: NativeEndpointId): Speech {
  return natives[endpoint];
}

const natives = Object.fromEntries(
  Object.entries(nativeDialects).map(([endpoint, bodies]) => [
    endpoint,
    speech(endpoint as NativeEndpointId, bodies, openaiChat),
  ]),
) as Readonly<Record<NativeEndpointId, Speech>>;

/** Every endpoint at which a model is called, by the table's names. */
export const speeches: Readonly<Record<CallEndpointId, Speech>> = {
  chat: chatSpeech,
  messages: messagesSpeech,
  "count-tokens": countTokensSpeech,
  responses: responsesSpeech,
  "responses-compact": compactSpeech,
  "input-tokens": inputTokensSpeech,
  generate: generateSpeech,
  "gemini-count-tokens": geminiCountTokensSpeech,
  "embed-content": embedContentSpeech,
  "batch-embed-contents": batchEmbedSpeech,
  images: imagesSpeech,
  "image-edits": imageEditsSpeech,
  ...natives,
  "pass-through": speech("pass-through", "any", openaiChat),
};

function speech(endpoint: CallEndpointId, bodies: WireDialectId, dialect: Dialect): Speech {
  return { endpoint, bodies, dialect, ...callerSide(endpoint) };
}
