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

/** The dialect of bodies, and the dialect of errors, headers and events. */
const dialects: Readonly<Record<Exclude<CallEndpointId, NativeEndpointId>, readonly [WireDialectId, Dialect]>> = {
  chat: ["openai-chat", openaiChat],
  messages: ["anthropic-messages", anthropicMessages],
  "count-tokens": ["anthropic-messages", anthropicMessages],
  responses: ["openai-responses", openaiResponses],
  "responses-compact": ["openai-responses", openaiResponses],
  "input-tokens": ["openai-responses", openaiResponses],
  generate: ["gemini", gemini],
  "gemini-count-tokens": ["gemini", gemini],
  "embed-content": ["gemini-embed-content", gemini],
  "batch-embed-contents": ["gemini-batch-embed", gemini],
  images: ["openai-images", openaiChat],
  "image-edits": ["openai-images", openaiChat],
  "pass-through": ["any", openaiChat],
};

/** The protocol of each endpoint that calls a model. Native endpoints (calls are not translated) have OpenAI's errors. */
export const protocols = Object.fromEntries([
  ...Object.entries(dialects).map(([endpoint, [wire, dialect]]) => row(endpoint as CallEndpointId, wire, dialect)),
  ...Object.entries(nativeDialects).map(([endpoint, wire]) => row(endpoint as CallEndpointId, wire, openaiChat)),
]) as Readonly<Record<CallEndpointId, EndpointProtocol>>;

function row(endpoint: CallEndpointId, wireDialect: WireDialectId, dialect: Dialect): [string, EndpointProtocol] {
  return [endpoint, { endpoint, wireDialect, dialect, ...callerSide(endpoint) }];
}
