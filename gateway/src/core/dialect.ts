/** A wire protocol. `bedrock-converse` is spoken by upstreams only. */
export type WireDialectId =
  | "openai-chat"
  | "openai-responses"
  | "anthropic-messages"
  | "gemini"
  | "bedrock-converse"
  | "openai-images"
  | "openai-embeddings";

/** What a ledger entry says was spoken: a wire protocol, or our own video tasks, which every vendor speaks otherwise. */
export type DialectId = WireDialectId | "video-tasks";

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
  | "embeddings"
  | "video";
