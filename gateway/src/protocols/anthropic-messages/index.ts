import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Wire } from "../dialect.ts";
import { modelEdit } from "../request/request-body.ts";
import { countReplyReader } from "../usage/count-reply.ts";
import { MessagesEventReader, readMessagesAnswer } from "./read-events.ts";
import { readMessagesTurn } from "./read-turn.ts";
import { readMessagesReply } from "./reply.ts";
import { readCountRequest, readMessagesRequest } from "./request.ts";
import { MessagesStreamTap } from "./stream.ts";
import { writeMessagesAnswer } from "./write-answer.ts";
import { MessagesEventWriter } from "./write-events.ts";
import { writeMessagesTurn } from "./write-turn.ts";

export { type CloudAsk, openCloudMessages } from "./cloud-request.ts";
export { anthropicMessages, bedrockMessages } from "./error.ts";
export { threadDropped as threadLeftOut } from "./read-turn.ts";
export { isVendorVersion, isVersionDate, requireVendorVersion } from "./request.ts";

export const anthropicMessagesWire: Wire = {
  readRequest: readMessagesRequest,
  requestEdits: modelEdit,
  readReply: readMessagesReply,
  tapStream: () => new MessagesStreamTap(),
};

/** `/v1/messages/count_tokens`: answered with a number. */
export const countTokensWire: Wire = {
  ...anthropicMessagesWire,
  readRequest: readCountRequest,
  readReply: countReplyReader("input_tokens"),
};

export const anthropicMessagesCodec: CallerCodec & UpstreamCodec = {
  readTurn: readMessagesTurn,
  writeAnswer: writeMessagesAnswer,
  writeEvents: (context) => new MessagesEventWriter(context),
  writeTurn: writeMessagesTurn,
  readAnswer: readMessagesAnswer,
  readEvents: (emit, source) => new MessagesEventReader(emit, source),
};
