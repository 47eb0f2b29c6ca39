import type { LimitHeader } from "#core/index.ts";
import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Dialect, Wire } from "../dialect.ts";
import { modelEdit } from "../request/request-body.ts";
import { readMessagesRefusal, renderMessagesError, renderMessagesRefusal, renderMessagesStreamError } from "./error.ts";
import { MessagesEventReader, readMessagesAnswer } from "./read-events.ts";
import { readMessagesTurn } from "./read-turn.ts";
import { readCountReply, readMessagesReply } from "./reply.ts";
import { readCountRequest, readMessagesRequest } from "./request.ts";
import { MessagesStreamTap } from "./stream.ts";
import { writeMessagesAnswer } from "./write-answer.ts";
import { MessagesEventWriter } from "./write-events.ts";
import { writeMessagesTurn } from "./write-turn.ts";

export { threadLeftOut } from "./read-turn.ts";
export { isVendorVersion, isVersionDate, requireVendorVersion } from "./request.ts";

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
  requestEdits: modelEdit,
  readReply: readMessagesReply,
  tapStream: () => new MessagesStreamTap(),
};

/** `/v1/messages/count_tokens`: the same prompt, answered with a number and never with a stream. */
export const countTokensWire: Wire = {
  ...anthropicMessagesWire,
  readRequest: readCountRequest,
  readReply: readCountReply,
};

export const anthropicMessagesCodec: CallerCodec & UpstreamCodec = {
  readTurn: readMessagesTurn,
  writeAnswer: writeMessagesAnswer,
  writeEvents: (context) => new MessagesEventWriter(context),
  writeTurn: writeMessagesTurn,
  readAnswer: readMessagesAnswer,
  readEvents: (emit, source) => new MessagesEventReader(emit, source),
};

/** A caller's own limit in Anthropic's header names; the reset is a time, in RFC 3339. */
function addMessagesLimitHeaders(
  out: Record<string, string>,
  unit: "requests" | "tokens",
  { limit, remaining, resetMs }: LimitHeader,
  now: number,
): void {
  const name = `anthropic-ratelimit-${unit}`;
  // Rounded up: a caller that waits until then is not refused again.
  const resetSeconds = Math.ceil((now + resetMs) / 1_000);
  out[`${name}-limit`] = String(limit);
  out[`${name}-remaining`] = String(remaining);
  out[`${name}-reset`] = new Date(resetSeconds * 1_000).toISOString().replace(".000Z", "Z");
}
