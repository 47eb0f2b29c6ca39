/** A wire protocol. */
export type DialectId = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";

/** What a caller asked for, independent of path: an endpoint's stable name in ledger, metrics and lanes. */
export type EndpointId =
  | "chat"
  | "messages"
  | "responses"
  | "responses-compact"
  | "images"
  | "image-edits"
  | "embeddings";
