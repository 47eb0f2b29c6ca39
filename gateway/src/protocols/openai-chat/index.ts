import type { Dialect, Wire } from "../dialect.ts";
import { addOpenaiLimitHeaders } from "../openai-limit-headers.ts";
import { readChatRefusal, renderChatError, renderChatRefusal, renderChatStreamError } from "./error.ts";
import { readChatReply } from "./reply.ts";
import { chatEdits, readChatRequest } from "./request.ts";
import { ChatStreamTap } from "./stream.ts";

export const openaiChat: Dialect = {
  id: "openai-chat",
  errorShape: "openai",
  renderError: renderChatError,
  renderStreamError: renderChatStreamError,
  readRefusal: readChatRefusal,
  renderRefusal: renderChatRefusal,
  keepAlive: ": keep-alive\n\n",
  addLimitHeaders: addOpenaiLimitHeaders,
};

export const openaiChatWire: Wire = {
  readRequest: readChatRequest,
  requestEdits: chatEdits,
  readReply: readChatReply,
  tapStream: (hideUsage, convention) => new ChatStreamTap(hideUsage, { convention }),
};

export { openaiChatCodec } from "./codec.ts";
export { searchesByOptions } from "./write-search.ts";
