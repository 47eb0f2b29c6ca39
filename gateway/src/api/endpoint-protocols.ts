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
import type { EndpointProtocol } from "#relay/index.ts";

/** What is spoken at each endpoint of model calls. */
export const chatProtocol = protocol("chat", "openai-chat", openaiChat);
export const messagesProtocol = protocol("messages", "anthropic-messages", anthropicMessages);
export const countTokensProtocol = protocol("count-tokens", "anthropic-messages", anthropicMessages);
export const responsesProtocol = protocol("responses", "openai-responses", openaiResponses);
export const compactProtocol = protocol("responses-compact", "openai-responses", openaiResponses);
export const inputTokensProtocol = protocol("input-tokens", "openai-responses", openaiResponses);
export const generateProtocol = protocol("generate", "gemini", gemini);
export const geminiCountTokensProtocol = protocol("gemini-count-tokens", "gemini", gemini);
export const embedContentProtocol = protocol("embed-content", "gemini-embed-content", gemini);
export const batchEmbedProtocol = protocol("batch-embed-contents", "gemini-batch-embed", gemini);
export const imagesProtocol = protocol("images", "openai-images", openaiChat);
export const imageEditsProtocol = protocol("image-edits", "openai-images", openaiChat);

/** Of an endpoint whose calls are passed as they are; OpenAI's errors. */
export function nativeProtocol(endpoint: NativeEndpointId): EndpointProtocol {
  return natives[endpoint];
}

const natives = Object.fromEntries(
  Object.entries(nativeDialects).map(([endpoint, wireDialect]) => [
    endpoint,
    protocol(endpoint as NativeEndpointId, wireDialect, openaiChat),
  ]),
) as Readonly<Record<NativeEndpointId, EndpointProtocol>>;

/** Every endpoint at which a model is called, by the table's names. */
export const endpointProtocols: Readonly<Record<CallEndpointId, EndpointProtocol>> = {
  chat: chatProtocol,
  messages: messagesProtocol,
  "count-tokens": countTokensProtocol,
  responses: responsesProtocol,
  "responses-compact": compactProtocol,
  "input-tokens": inputTokensProtocol,
  generate: generateProtocol,
  "gemini-count-tokens": geminiCountTokensProtocol,
  "embed-content": embedContentProtocol,
  "batch-embed-contents": batchEmbedProtocol,
  images: imagesProtocol,
  "image-edits": imageEditsProtocol,
  ...natives,
  "pass-through": protocol("pass-through", "any", openaiChat),
};

function protocol(endpoint: CallEndpointId, wireDialect: WireDialectId, dialect: Dialect): EndpointProtocol {
  return { endpoint, wireDialect, dialect, ...callerSide(endpoint) };
}
