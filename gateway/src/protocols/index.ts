/**
 * protocols: the wire dialects, pure. Each folder reads and writes one dialect: request, reply, stream, usage,
 * error. Same-dialect traffic is never rebuilt here: requests are spliced, streams are listened to.
 */
export type { Dialect, ReplyFacts, RequestFacts, StreamTap, UsageReading } from "./dialect.ts";
export { openaiChat } from "./openai-chat/index.ts";
