/** A wire protocol. `bedrock-converse` is spoken by upstreams only. */
export type DialectId =
  | "openai-chat"
  | "openai-responses"
  | "anthropic-messages"
  | "gemini"
  | "bedrock-converse"
  | "openai-images"
  | "openai-embeddings";

/** What a caller asked for, independent of path: an endpoint's stable name in ledger, metrics and lanes. */
export type EndpointId =
  | "chat"
  | "messages"
  | "count-tokens"
  | "responses"
  | "responses-compact"
  | "generate"
  | "images"
  | "image-edits"
  | "embeddings";
