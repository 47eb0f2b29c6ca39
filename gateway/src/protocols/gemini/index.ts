import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Wire } from "../dialect.ts";
import { countReplyReader } from "../usage/count-reply.ts";
import { GeminiEventReader, readGeminiAnswer } from "./read-events.ts";
import { readGeminiTurn } from "./read-turn.ts";
import { readGeminiReply } from "./reply.ts";
import { readGeminiCount, readGeminiRequest } from "./request.ts";
import { GeminiStreamTap } from "./stream.ts";
import { GeminiEventWriter, writeGeminiAnswer } from "./write-answer.ts";
import { writeGeminiTurn } from "./write-turn.ts";

export { gemini } from "./error.ts";
export { geminiImageCodec } from "./image-codec.ts";
export { isGeminiUrl } from "./media-urls.ts";
export { innerRequest } from "./request.ts";

export const geminiWire: Wire = {
  readRequest: readGeminiRequest,
  /** The model is in the path. */
  requestEdits: () => [],
  readReply: readGeminiReply,
  tapStream: () => new GeminiStreamTap(),
};

/** `:countTokens`: answered with a number. */
export const geminiCountWire: Wire = {
  ...geminiWire,
  readRequest: readGeminiCount,
  /** The inner request must name the model of the path. */
  requestEdits: (_body, { modelSpan }, upstreamModel) =>
    modelSpan === null ? [] : [{ ...modelSpan, text: JSON.stringify(`models/${upstreamModel}`) }],
  readReply: countReplyReader("totalTokens", { mayOmit: true }),
};

export const geminiCodec: CallerCodec & UpstreamCodec = {
  readTurn: readGeminiTurn,
  writeAnswer: writeGeminiAnswer,
  writeEvents: (context) => new GeminiEventWriter(context),
  writeTurn: writeGeminiTurn,
  readAnswer: readGeminiAnswer,
  readEvents: (emit, source) => new GeminiEventReader(emit, source),
};
