import type { Wire } from "../dialect.ts";
import { readChatReply } from "../openai-chat/reply.ts";
import { chatEdits } from "../openai-chat/request.ts";
import { ChatStreamTap } from "../openai-chat/stream.ts";
import { readCompletionsRequest } from "./request.ts";

/**
 * Text that goes on from a prompt, or stands between a prompt and a suffix. Streams and usage are those of chat completions;
 * only what was generated stands in `text`.
 */
export const completionsWire: Wire = {
  readRequest: readCompletionsRequest,
  requestEdits: chatEdits,
  smallestRequest: (model) => ({ model, prompt: "ok", max_tokens: 1 }),
  readReply: readChatReply,
  tapStream: (hideUsage, convention) => new ChatStreamTap(hideUsage, { marks: textMarks, convention }),
};

const textMarks = [Buffer.from('"text":', "latin1")];
