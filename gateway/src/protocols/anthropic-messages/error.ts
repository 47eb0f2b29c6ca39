import { type Failure, failureTable } from "#core/index.ts";
import type { Dialect } from "../dialect.ts";
import { refusalBody, reportedFailure } from "../errors/error-event.ts";
import { errorText, isContextTooLong } from "../errors/upstream-errors.ts";
import { type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";

export const anthropicMessages: Dialect = {
  id: "anthropic-messages",
  errorShape: "anthropic",
  renderError,
  renderStreamError: renderMessagesStreamError,
  readRefusal(status, body) {
    const error = objectOf(parseObject(body)?.["error"]);
    const reported = textOf(error["message"]);
    const message = reported ?? `The upstream refused the request with status ${status}.`;
    return {
      status,
      message,
      code: textOf(error["type"]),
      contextLength: isContextTooLong(status, null, reported ?? ""),
    };
  },
  renderRefusal({ status, message, contextLength }, requestId) {
    const type = types.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
    return errorBody({ type, message: contextLength ? tooLong(message) : message }, requestId);
  },
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  /** The reset is an RFC 3339 time. */
  addLimitHeaders(out, unit, { limit, used, freeInMs }, now) {
    const names = limitHeaders[unit];
    // Rounded up so that a caller who waits is not refused again.
    const resetSeconds = Math.ceil((now + Math.ceil(freeInMs)) / 1_000);
    out[names.limit] = String(limit);
    out[names.remaining] = String(Math.max(0, limit - used));
    out[names.reset] = names.resetText(resetSeconds);
  },
};

const limitHeaders = { requests: limitHeadersOf("requests"), tokens: limitHeadersOf("tokens") } as const;

function limitHeadersOf(unit: string) {
  const name = `anthropic-ratelimit-${unit}`;
  let lastSeconds = -1;
  let lastText = "";
  return {
    limit: `${name}-limit`,
    remaining: `${name}-remaining`,
    reset: `${name}-reset`,
    /** Calls of one second mostly have the same reset. */
    resetText(seconds: number): string {
      if (seconds !== lastSeconds) {
        lastSeconds = seconds;
        lastText = new Date(seconds * 1_000).toISOString().replace(".000Z", "Z");
      }
      return lastText;
    },
  };
}

/** For callers that speak Amazon Bedrock's InvokeModel. Errors within streams become exceptions of its framing. */
export const bedrockMessages: Dialect = {
  ...anthropicMessages,
  errorShape: "aws",
  renderError: (failure) =>
    JSON.stringify({ message: failure.contextLength ? tooLong(failure.message) : failure.message }),
  renderRefusal: ({ message, contextLength }) =>
    JSON.stringify({ message: contextLength ? tooLong(message) : message }),
};

function renderError(failure: Failure, requestId: string | null): string {
  const { anthropicType } = failureTable[failure.code];
  const message = failure.contextLength ? tooLong(failure.message) : failure.message;
  return errorBody({ type: anthropicType, message, ...failure.details }, requestId);
}

/** SDKs throw on this event. Nothing follows it. */
export function renderMessagesStreamError(failure: Failure, requestId: string | null): string {
  return `event: error\ndata: ${refusalBody(failure) ?? renderError(failure, requestId)}\n\n`;
}

/** The failure for an `error` event or an error body. */
export function messagesFailure(error: unknown): Failure {
  return reportedFailure(error, errorText(error), { type: "error", error });
}

function errorBody(error: JsonObject, requestId: string | null): string {
  return JSON.stringify({ type: "error", error, request_id: requestId });
}

const types: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [408, "timeout_error"],
  [409, "conflict_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

/**
 * Claude Code compacts a conversation on "prompt is too long" and reads the sizes from "<n> tokens > <m> maximum". They are the two
 * largest numbers in any vendor's text.
 */
function tooLong(message: string): string {
  if (/prompt is too long/i.test(message)) return message;
  const numbers = [...message.matchAll(/(?<![\w.,-])\d{1,3}(?:,?\d{3})+(?![\w-]|[.,]\d)/g)]
    .map((match) => Number(match[0].replaceAll(",", "")))
    .toSorted((one, other) => other - one);
  const [size, limit] = numbers;
  if (size === undefined || limit === undefined || size === limit) return `prompt is too long: ${message}`;
  return `prompt is too long: ${size} tokens > ${limit} maximum. ${message}`;
}
