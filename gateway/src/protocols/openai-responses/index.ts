import { readCountReply } from "../anthropic-messages/reply.ts";
import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Dialect, Wire } from "../dialect.ts";
import { openaiChat } from "../openai-chat/dialect.ts";
import { modelEdit } from "../request/request-body.ts";
import { writeCompactedAnswer } from "./compaction.ts";
import { renderResponsesStreamError } from "./error.ts";
import { ResponsesEventReader, readResponsesAnswer } from "./read-answer.ts";
import { readCompactTurn, readResponsesTurn } from "./read-turn.ts";
import { readResponsesReply } from "./reply.ts";
import { readCompactRequest, readInputTokensRequest, readResponsesRequest } from "./request.ts";
import { ResponsesStreamTap } from "./stream.ts";
import { ResponsesEventWriter, writeResponsesAnswer } from "./write-events.ts";
import { writeResponsesTurn } from "./write-turn.ts";

/** The Responses API: refusals in OpenAI's shape, errors of a stream as events of its own. */
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

/** POST /responses/compact: never streamed, answered with a response.compaction. */
export const responsesCompactWire: Wire = { ...openaiResponsesWire, readRequest: readCompactRequest };

/** POST /responses/input_tokens: the same prompt, answered with a number and never with a stream. */
export const inputTokensWire: Wire = {
  ...openaiResponsesWire,
  readRequest: readInputTokensRequest,
  readReply: readCountReply,
};

export const openaiResponsesCodec: CallerCodec & UpstreamCodec = {
  readTurn: readResponsesTurn,
  writeAnswer: writeResponsesAnswer,
  writeEvents: (context) => new ResponsesEventWriter(context),
  writeTurn: writeResponsesTurn,
  readAnswer: readResponsesAnswer,
  readEvents: (emit, source) => new ResponsesEventReader(emit, source),
};

/** The caller's side of /responses/compact, which is never streamed. */
export const responsesCompactCodec: CallerCodec = {
  ...openaiResponsesCodec,
  readTurn: readCompactTurn,
  writeAnswer: writeCompactedAnswer,
};
