import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Dialect, Wire } from "../dialect.ts";
import { openaiChat } from "../openai-chat/dialect.ts";
import { modelEdit } from "../request/request-body.ts";
import { countReplyReader } from "../usage/count-reply.ts";
import { writeCompactedAnswer } from "./compaction.ts";
import { renderResponsesStreamError } from "./error.ts";
import { ResponsesEventReader, readResponsesAnswer } from "./read-answer.ts";
import { readCompactTurn, readResponsesTurn } from "./read-turn.ts";
import { readResponsesReply } from "./reply.ts";
import { readCompactRequest, readInputTokensRequest, readResponsesRequest } from "./request.ts";
import { ResponsesStreamTap } from "./stream.ts";
import { ResponsesEventWriter, writeResponsesAnswer } from "./write-events.ts";
import { writeResponsesTurn } from "./write-turn.ts";

/** Errors outside streams are OpenAI's. */
export const openaiResponses: Dialect = {
  ...openaiChat,
  id: "openai-responses",
  renderStreamError: renderResponsesStreamError,
};

export const openaiResponsesWire: Wire = {
  readRequest: readResponsesRequest,
  requestEdits: modelEdit,
  readReply: readResponsesReply,
  tapStream: () => new ResponsesStreamTap(),
};

/** POST /responses/compact */
export const responsesCompactWire: Wire = { ...openaiResponsesWire, readRequest: readCompactRequest };

/** POST /responses/input_tokens */
export const inputTokensWire: Wire = {
  ...openaiResponsesWire,
  readRequest: readInputTokensRequest,
  readReply: countReplyReader("input_tokens"),
};

export const openaiResponsesCodec: CallerCodec & UpstreamCodec = {
  readTurn: readResponsesTurn,
  writeAnswer: writeResponsesAnswer,
  writeEvents: (context) => new ResponsesEventWriter(context),
  writeTurn: writeResponsesTurn,
  readAnswer: readResponsesAnswer,
  readEvents: (emit, source) => new ResponsesEventReader(emit, source),
};

export const responsesCompactCodec: CallerCodec = {
  ...openaiResponsesCodec,
  readTurn: readCompactTurn,
  writeAnswer: writeCompactedAnswer,
};
