import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import { readChatAnswer } from "./answer-reader.ts";
import { writeChatAnswer } from "./answer-writer.ts";
import { ChatEventReader } from "./event-reader.ts";
import { ChatEventWriter } from "./event-writer.ts";
import { readChatTurn } from "./turn-reader.ts";
import { writeChatTurn } from "./turn-writer.ts";

/** Chat completions to and from the neutral form. */
export const openaiChatCodec: CallerCodec & UpstreamCodec = {
  readTurn: readChatTurn,
  writeAnswer: writeChatAnswer,
  writeEvents: (context) => new ChatEventWriter(context),
  writeTurn: writeChatTurn,
  readAnswer: readChatAnswer,
  readEvents: (emit, source) => new ChatEventReader(emit, source),
};
