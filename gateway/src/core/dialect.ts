import type { ModelEndpointId } from "@sluice/contract/words";

/** Endpoints whose calls are never translated, with their dialects. A new one needs only its line here. */
export const nativeDialects = {
  completions: "openai-completions",
  embeddings: "openai-embeddings",
  rerank: "rerank",
  moderations: "openai-moderations",
  decisions: "openai-decisions",
  transcriptions: "openai-transcriptions",
  translations: "openai-transcriptions",
  speech: "openai-speech",
} as const satisfies { readonly [Endpoint in ModelEndpointId]?: string };

export type NativeEndpointId = keyof typeof nativeDialects;
export type NativeDialectId = (typeof nativeDialects)[NativeEndpointId];

/** A wire protocol. The dialects of Bedrock, `vertex-predict` and `mistral-fim` are only spoken by upstreams; `any` is passed through unparsed. */
export type WireDialectId =
  | "openai-chat"
  | "openai-responses"
  | "anthropic-messages"
  | "gemini"
  | "gemini-interactions"
  | "bedrock-converse"
  | "openai-images"
  | "gemini-embed-content"
  | "gemini-batch-embed"
  | "gemini-decisions"
  | "vertex-predict"
  | "titan-embeddings"
  | "cohere-on-bedrock"
  | "any"
  | "mistral-fim"
  | NativeDialectId;

/** The dialect in a ledger entry: a wire protocol, or our own video tasks. */
export type DialectId = WireDialectId | "video-tasks";

/** Endpoints that count the tokens of a prompt. They generate nothing and are free. */
export function onlyCounts(endpoint: EndpointId): boolean {
  return endpoint === "count-tokens" || endpoint === "input-tokens" || endpoint === "gemini-count-tokens";
}

/**
 * Stable name of an endpoint in the ledger, metrics and lanes, independent of its path. `adjustment`, in the ledger only: money that was
 * booked without a call.
 */
export type EndpointId = ModelEndpointId | "video" | "pass-through" | "adjustment";
