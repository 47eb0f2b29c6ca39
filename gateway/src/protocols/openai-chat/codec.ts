import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import { readChatAnswer } from "./read-answer.ts";
import { ChatEventReader } from "./read-events.ts";
import { readChatTurn } from "./read-turn.ts";
import { writeChatAnswer } from "./write-answer.ts";
import { ChatEventWriter } from "./write-events.ts";
import { writeChatTurn } from "./write-turn.ts";

/** Chat completions to and from the neutral form. */
export const openaiChatCodec: CallerCodec & UpstreamCodec = {
  readTurn: readChatTurn,
  writeAnswer: writeChatAnswer,
  writeEvents: (context) => new ChatEventWriter(context),
  writeTurn: writeChatTurn,
  readAnswer: readChatAnswer,
  readEvents: (emit, source) => new ChatEventReader(emit, source),
};
