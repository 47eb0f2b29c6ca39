import { type Failure, failureTable } from "#core/index.ts";
import type { UpstreamRefusal } from "../dialect.ts";
import { errorReported, refusalBody } from "../errors/error-event.ts";
import { isTooLong } from "../errors/upstream-errors.ts";
import { isObject, objectOf, parseObject, textOf } from "../json/value.ts";

/** Anthropic's error body, with what a limit adds. */
export function renderMessagesError(failure: Failure, requestId: string | null): string {
  const { anthropicType } = failureTable[failure.code];
  const message = failure.contextLength ? tooLong(failure.message) : failure.message;
  return errorBody({ type: anthropicType, message, ...failure.details }, requestId);
}

/** The same as an event; SDKs raise it. Nothing follows it. */
export function renderMessagesStreamError(failure: Failure, requestId: string | null): string {
  return `event: error\ndata: ${refusalBody(failure) ?? renderMessagesError(failure, requestId)}\n\n`;
}

/** What an Anthropic-shaped error body says; a body of another shape says only its status. */
export function readMessagesRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const error = objectOf(parseObject(decoder.decode(body))?.["error"]);
  const message = textOf(error["message"]);
  return {
    status,
    message: message ?? `The upstream refused the request with status ${status}.`,
    code: textOf(error["type"]),
    contextLength: isTooLong(status, null, message ?? ""),
  };
}

/** The message inside an error body's `error`. */
export function errorMessage(error: unknown): string {
  return textOf(error) ?? (isObject(error) ? textOf(error["message"]) : null) ?? "unknown error";
}

/** What an `error` event, or an answer that is an error, tells. */
export function messagesFailure(error: unknown): Failure {
  return errorReported(error, errorMessage(error), { type: "error", error });
}

export function renderMessagesRefusal(refusal: UpstreamRefusal, requestId: string): string {
  const message = refusal.contextLength ? tooLong(refusal.message) : refusal.message;
  return errorBody({ type: errorType(refusal.status), message }, requestId);
}

const decoder = new TextDecoder();

function errorBody(error: Readonly<Record<string, unknown>>, requestId: string | null): string {
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

function errorType(status: number): string {
  return types.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

/**
 * Claude Code compacts a conversation when it reads "prompt is too long", and takes the sizes from
 * "<n> tokens > <m> maximum": in any vendor's wording they are the two largest numbers.
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
