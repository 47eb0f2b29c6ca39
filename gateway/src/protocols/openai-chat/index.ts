import type { Dialect } from "../dialect.ts";
import { renderChatError, renderChatStreamError } from "./error.ts";
import { readChatReply } from "./reply.ts";
import { patchChatRequest, readChatRequest } from "./request.ts";
import { ChatStreamTap } from "./stream.ts";

export const openaiChat: Dialect = {
  id: "openai-chat",
  readRequest: readChatRequest,
  patchRequest: patchChatRequest,
  readReply: readChatReply,
  tapStream: (hideUsage) => new ChatStreamTap(hideUsage),
  renderError: renderChatError,
  renderStreamError: renderChatStreamError,
  keepAlive: ": keep-alive\n\n",
};
