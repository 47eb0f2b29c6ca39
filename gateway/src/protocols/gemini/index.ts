import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Dialect, Wire } from "../dialect.ts";
import { addOpenaiLimitHeaders } from "../openai-chat/dialect.ts";
import {
  readGeminiRefusal,
  renderBareGeminiError,
  renderGeminiError,
  renderGeminiRefusal,
  renderGeminiStreamError,
} from "./error.ts";
import { GeminiEventReader, readGeminiAnswer } from "./read-events.ts";
import { readGeminiTurn } from "./read-turn.ts";
import { readGeminiReply } from "./reply.ts";
import { geminiCountEdits, geminiEdits, readGeminiCount, readGeminiCountReply, readGeminiRequest } from "./request.ts";
import { GeminiStreamTap } from "./stream.ts";
import { GeminiEventWriter, writeGeminiAnswer } from "./write-answer.ts";
import { writeGeminiTurn } from "./write-turn.ts";

export { geminiImageCodec } from "./image-codec.ts";
export { innerRequest } from "./request.ts";
export { isGeminiUrl } from "./write-contents.ts";

/** Google has no headers for limits of its own: OpenAI's names are the ones that tools know. */
export const gemini: Dialect = {
  id: "gemini",
  errorShape: "google",
  renderError: renderGeminiError,
  renderStreamError: renderGeminiStreamError,
  renderBareError: renderBareGeminiError,
  readRefusal: readGeminiRefusal,
  renderRefusal: renderGeminiRefusal,
  keepAlive: ": keep-alive\n\n",
  addLimitHeaders: addOpenaiLimitHeaders,
};

export const geminiWire: Wire = {
  readRequest: readGeminiRequest,
  requestEdits: geminiEdits,
  readReply: readGeminiReply,
  tapStream: () => new GeminiStreamTap(),
};

/** `:countTokens`: answered with a number and never with a stream. */
export const geminiCountWire: Wire = {
  readRequest: readGeminiCount,
  requestEdits: geminiCountEdits,
  readReply: readGeminiCountReply,
  tapStream: () => new GeminiStreamTap(),
};

export const geminiCodec: CallerCodec & UpstreamCodec = {
  readTurn: readGeminiTurn,
  writeAnswer: writeGeminiAnswer,
  writeEvents: (context) => new GeminiEventWriter(context),
  writeTurn: writeGeminiTurn,
  readAnswer: readGeminiAnswer,
  readEvents: (emit, source) => new GeminiEventReader(emit, source),
};
