import type { ModelEndpointId } from "@sluice/contract/words";

/** The endpoints whose calls are never translated, and what is spoken at each: all that a new one needs here is its line. */
export const nativeDialects = {
  completions: "openai-completions",
  embeddings: "openai-embeddings",
  rerank: "rerank",
  moderations: "openai-moderations",
  transcriptions: "openai-transcriptions",
  translations: "openai-transcriptions",
  speech: "openai-speech",
} as const satisfies { readonly [Endpoint in ModelEndpointId]?: string };

export type NativeEndpointId = keyof typeof nativeDialects;
export type NativeDialectId = (typeof nativeDialects)[NativeEndpointId];

/**
 * A wire protocol. Those of Bedrock, `vertex-predict` and `mistral-fim` are spoken by upstreams only; `any` is whatever passes
 * through without being understood.
 */
export type WireDialectId =
  | "openai-chat"
  | "openai-responses"
  | "anthropic-messages"
  | "gemini"
  | "bedrock-converse"
  | "openai-images"
  | "gemini-embed-content"
  | "gemini-batch-embed"
  | "vertex-predict"
  | "titan-embeddings"
  | "cohere-on-bedrock"
  | "any"
  | "mistral-fim"
  | NativeDialectId;

/** What a ledger entry says was spoken: a wire protocol, or our own video tasks, which every vendor speaks otherwise. */
export type DialectId = WireDialectId | "video-tasks";

/** Calls at these count the tokens of a prompt: nothing is generated, and nobody is charged. */
export function onlyCounts(endpoint: EndpointId): boolean {
  return endpoint === "count-tokens" || endpoint === "input-tokens" || endpoint === "gemini-count-tokens";
}

/** What a caller asked for, independent of path: an endpoint's stable name in ledger, metrics and lanes. */
export type EndpointId = ModelEndpointId | "video" | "pass-through";
