import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Dialect, Wire } from "../dialect.ts";
import { readChatRefusal, renderChatError, renderChatRefusal, renderChatStreamError } from "./error.ts";
import { addOpenaiLimitHeaders } from "./limit-headers.ts";
import { readChatAnswer } from "./read-answer.ts";
import { ChatEventReader } from "./read-events.ts";
import { readChatTurn } from "./read-turn.ts";
import { readChatReply } from "./reply.ts";
import { chatEdits, readChatRequest } from "./request.ts";
import { ChatStreamTap } from "./stream.ts";
import { writeChatAnswer } from "./write-answer.ts";
import { ChatEventWriter } from "./write-events.ts";
import { writeChatTurn } from "./write-turn.ts";

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

export { searchesByOptions } from "./write-turn.ts";

/** Chat completions to and from the neutral form. */
export const openaiChatCodec: CallerCodec & UpstreamCodec = {
  readTurn: readChatTurn,
  writeAnswer: writeChatAnswer,
  writeEvents: (context) => new ChatEventWriter(context),
  writeTurn: writeChatTurn,
  readAnswer: readChatAnswer,
  readEvents: (emit, source) => new ChatEventReader(emit, source),
};
