import type { Failure } from "#core/index.ts";
import type { Dialect, UpstreamRefusal } from "../dialect.ts";
import { refusalBody, reportedFailure } from "../errors/error-event.ts";
import { contextLengthCode, errorText, isContextTooLong } from "../errors/upstream-errors.ts";
import { withTooLongText } from "../gemini/error.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseFirst, parseObject, textOf } from "../json/value.ts";
import { addOpenaiLimitHeaders } from "../openai-chat/dialect.ts";

/** Errors are `{"error":{"code","message"}}` with a word as code. Source: @google/genai, ErrorT. */
export const geminiInteractions: Dialect = {
  id: "gemini-interactions",
  errorShape: "interactions",
  renderError: (failure) => JSON.stringify({ error: errorOf(failure) }),
  renderStreamError: renderInteractionStreamError,
  readRefusal,
  renderRefusal: ({ status, code, ...entries }) => {
    const shown = entries.contextLength ? contextLengthCode : (code?.toLowerCase() ?? codeOf(status));
    return JSON.stringify({ error: { code: shown, message: withTooLongText(entries) } });
  },
  keepAlive: ": keep-alive\n\n",
  addLimitHeaders: addOpenaiLimitHeaders,
};

/** SDKs return the event to their caller instead of throwing, and end at the end of the stream. */
export function renderInteractionStreamError(failure: Failure): string {
  return `event: error\ndata: ${JSON.stringify({ event_type: "error", error: errorOf(failure) })}\n\n`;
}

function errorOf(failure: Failure): JsonObject {
  const code = failure.contextLength ? contextLengthCode : failure.code;
  const own = { code, message: withTooLongText(failure) };
  const body = refusalBody(failure);
  if (body === null) return own;
  const refusal = objectOf(parseObject(body)?.["error"]);
  return { code: textOf(refusal["code"]) ?? own.code, message: textOf(refusal["message"]) ?? own.message };
}

/** Google's front end answers with an error of google.rpc, with a number as code. */
function readRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const reported = parseFirst(body)?.["error"];
  const error = isObject(reported) ? reported : { message: reported };
  const message = textOf(error["message"]) ?? `HTTP status ${status}`;
  const reasons = arrayOf(error["details"]).flatMap((one) => textOf(objectOf(one)["reason"]) ?? []);
  const code = textOf(error["code"]) ?? reasons[0] ?? textOf(error["status"]);
  return { status, message, code, contextLength: isContextTooLong(status, code, message) };
}

function codeOf(status: number): string {
  return codes[status] ?? (status >= 500 ? "internal" : "invalid_request");
}

const codes: Readonly<Record<number, string>> = {
  401: "unauthenticated",
  402: "payment_required",
  403: "permission_denied",
  404: "not_found",
  409: "aborted",
  429: "rate_limit_exceeded",
  503: "unavailable",
  504: "deadline_exceeded",
};

/** The failure of an `error` event, or of an interaction that has failed. */
export function interactionFailure(error: unknown): Failure {
  return reportedFailure(error, errorText(error));
}
