import type { Failure } from "#core/index.ts";
import type { Dialect, UpstreamRefusal } from "../dialect.ts";
import { refusalBody, reportedFailure } from "../errors/error-event.ts";
import { errorText, isContextTooLong } from "../errors/upstream-errors.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseFirst, textOf } from "../json/value.ts";
import { addOpenaiLimitHeaders } from "../openai-chat/dialect.ts";

/** Google has no rate limit headers, so OpenAI's are used. */
export const gemini: Dialect = {
  id: "gemini",
  errorShape: "google",
  renderError,
  /** SDKs from 2.0 on throw on a chunk with `error.code` 400 to 599. */
  renderStreamError: (failure, requestId) => `data: ${renderBareError(failure, requestId)}\n\n`,
  renderBareError,
  readRefusal,
  renderRefusal: ({ status, ...entries }, requestId) =>
    errorBody(status, withTooLongText(entries), [requestInfo(requestId)]),
  keepAlive: ": keep-alive\n\n",
  addLimitHeaders: addOpenaiLimitHeaders,
};

/** `{"error":{code,message,status,details}}` with details of google.rpc. Source: google.rpc.Status, google/rpc/error_details.proto. */
function renderError(failure: Failure, requestId: string): string {
  // ErrorInfo.metadata holds strings.
  const fields = Object.entries(failure.details ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const metadata = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
  const details = [detail("ErrorInfo", { reason: failure.code.toUpperCase(), domain: "sluice", metadata })];
  if (failure.param !== null) {
    const fieldViolations = [{ field: failure.param, description: failure.message }];
    details.push(detail("BadRequest", { fieldViolations }));
  }
  if (failure.retryAfterMs !== undefined) {
    details.push(detail("RetryInfo", { retryDelay: `${Math.ceil(failure.retryAfterMs / 1_000)}s` }));
  }
  if (requestId !== "") details.push(requestInfo(requestId));
  return errorBody(failure.status, withTooLongText(failure), details);
}

/** SDKs before 2.0 expect the error without `data:`, in a chunk of its own; others skip it. */
function renderBareError(failure: Failure, requestId: string): string {
  return refusalBody(failure) ?? renderError(failure, requestId);
}

function errorBody(code: number, message: string, details: readonly JsonObject[]): string {
  const status = statusWords[code] ?? (code >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
  return JSON.stringify({ error: { code, message, status, details } });
}

function detail(type: string, members: JsonObject): JsonObject {
  return { "@type": `type.googleapis.com/google.rpc.${type}`, ...members };
}

function requestInfo(requestId: string): JsonObject {
  return detail("RequestInfo", { requestId });
}

/** Streams without SSE and the OpenAI-compatible endpoint wrap errors in an array. */
function readRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const reported = parseFirst(body)?.["error"];
  const error = isObject(reported) ? reported : { message: reported };
  const message = textOf(error["message"]) ?? `HTTP status ${status}`;
  const reasons = arrayOf(error["details"]).flatMap((one) => textOf(objectOf(one)["reason"]) ?? []);
  const code = reasons[0] ?? textOf(error["status"]);
  return { status, message, code, contextLength: isContextTooLong(status, null, message) };
}

/** With the words by which clients of Gemini recognize a prompt that is too long. */
export function withTooLongText({
  message,
  contextLength,
}: Pick<UpstreamRefusal, "message" | "contextLength">): string {
  return contextLength && !tooLongPattern.test(message) ? `${tooLong} ${message}` : message;
}

export function geminiFailure(error: unknown): Failure {
  return reportedFailure(error, errorText(error));
}

/** Texts of the Gemini API and of Vertex. */
const tooLongPattern = /input token count.{0,200}(?:exceeds|only supports)/is;
const tooLong = "The input token count exceeds the maximum number of tokens allowed.";

/** Source: google/rpc/code.proto, "HTTP Mapping". */
const statusWords: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "RESOURCE_EXHAUSTED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE",
};
