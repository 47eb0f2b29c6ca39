import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Dialect, Wire } from "../dialect.ts";
import { readMessagesRefusal, renderMessagesError, renderMessagesRefusal, renderMessagesStreamError } from "./error.ts";
import { addMessagesLimitHeaders } from "./limit-headers.ts";
import { readMessagesAnswer } from "./read-answer.ts";
import { MessagesEventReader } from "./read-events.ts";
import { readMessagesTurn } from "./read-turn.ts";
import { readCountReply, readMessagesReply } from "./reply.ts";
import { messagesEdits, readCountRequest, readMessagesRequest } from "./request.ts";
import { MessagesStreamTap } from "./stream.ts";
import { writeMessagesAnswer } from "./write-answer.ts";
import { MessagesEventWriter } from "./write-events.ts";
import { writeMessagesTurn } from "./write-turn.ts";

export { threadLeftOut } from "./read-turn.ts";
export { isVendorVersion, isVersionDate, requireVendorVersion } from "./vendor-version.ts";

export const anthropicMessages: Dialect = {
  id: "anthropic-messages",
  errorShape: "anthropic",
  renderError: renderMessagesError,
  renderStreamError: renderMessagesStreamError,
  readRefusal: readMessagesRefusal,
  renderRefusal: renderMessagesRefusal,
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  addLimitHeaders: addMessagesLimitHeaders,
};

export const anthropicMessagesWire: Wire = {
  readRequest: readMessagesRequest,
  requestEdits: messagesEdits,
  readReply: readMessagesReply,
  tapStream: () => new MessagesStreamTap(),
};

/** `/v1/messages/count_tokens`: the same prompt, answered with a number and never with a stream. */
export const countTokensWire: Wire = {
  readRequest: readCountRequest,
  requestEdits: messagesEdits,
  readReply: readCountReply,
  tapStream: () => new MessagesStreamTap(),
};

export const anthropicMessagesCodec: CallerCodec & UpstreamCodec = {
  readTurn: readMessagesTurn,
  writeAnswer: writeMessagesAnswer,
  writeEvents: (context) => new MessagesEventWriter(context),
  writeTurn: writeMessagesTurn,
  readAnswer: readMessagesAnswer,
  readEvents: (emit, source) => new MessagesEventReader(emit, source),
};
