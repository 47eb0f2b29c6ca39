import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Wire } from "../dialect.ts";
import { ChatEventReader, readChatAnswer } from "./read-answer.ts";
import { readChatTurn } from "./read-turn.ts";
import { readChatReply } from "./reply.ts";
import { chatEdits, readChatRequest } from "./request.ts";
import { ChatStreamTap } from "./stream.ts";
import { ChatEventWriter, writeChatAnswer } from "./write-answer.ts";
import { writeChatTurn } from "./write-turn.ts";

export const openaiChatWire: Wire = {
  readRequest: readChatRequest,
  requestEdits: chatEdits,
  readReply: readChatReply,
  tapStream: (hideUsage, convention) => new ChatStreamTap(hideUsage, convention),
};

export { openaiChat } from "./dialect.ts";
export { searchesByOptions } from "./write-turn.ts";

export const openaiChatCodec: CallerCodec & UpstreamCodec = {
  readTurn: readChatTurn,
  writeAnswer: writeChatAnswer,
  writeEvents: (context) => new ChatEventWriter(context),
  writeTurn: writeChatTurn,
  readAnswer: readChatAnswer,
  readEvents: (emit, source) => new ChatEventReader(emit, source),
};
