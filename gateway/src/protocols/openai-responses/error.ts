import { type Failure, failureTable } from "#core/index.ts";
import { refusalBody, reportedFailure } from "../errors/error-event.ts";
import { contextLengthCode } from "../errors/upstream-errors.ts";
import { isObject, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { bareResponse } from "./response-object.ts";

/** Writes the `error` event, nested and flat because SDKs differ, then `response.failed`, which Codex reads. `response` is JSON text. */
export function failureEvents(failure: Failure, response: string, sequence: number): string {
  const error = errorOf(failure);
  const { code, message, param } = error;
  const event = { type: "error", code, message, param, sequence_number: sequence, error };
  return (
    `event: error\ndata: ${JSON.stringify(event)}\n\n` +
    `event: response.failed\ndata: {"type":"response.failed","response":${response},"sequence_number":${sequence + 1}}\n\n`
  );
}

export function responseError(failure: Failure): { readonly code: string; readonly message: string } {
  const { code, message } = errorOf(failure);
  return { code: terminalCodes.get(code) ?? "server_error", message };
}

/** Codes that clients know: Codex waits, gives up or compacts on them. */
const terminalCodes: ReadonlyMap<string, string> = new Map([
  ...[contextLengthCode, "rate_limit_exceeded", "insufficient_quota", "invalid_prompt"].map(
    (code) => [code, code] as const,
  ),
  ["overloaded", "server_is_overloaded"],
  ["server_is_overloaded", "server_is_overloaded"],
]);

function errorOf(failure: Failure) {
  const { type } = failureTable[failure.code];
  const { message, param, contextLength } = failure;
  const fallback = { type, code: contextLength ? contextLengthCode : failure.code, message, param };
  const body = refusalBody(failure);
  if (body === null) return fallback;
  const refusal = objectOf(parseObject(body)?.["error"]);
  return {
    type: textOf(refusal["type"]) ?? fallback.type,
    code: textOf(refusal["code"]) ?? textOf(refusal["type"]) ?? fallback.code,
    message: textOf(refusal["message"]) ?? message,
    param: textOf(refusal["param"]) ?? param,
  };
}

export function renderResponsesStreamError(failure: Failure, requestId: string): string {
  return failureEvents(failure, bareFailedResponse(failure, `resp_${requestId}`), 0);
}

export function bareFailedResponse(failure: Failure, id: string): string {
  return JSON.stringify(bareResponse({ id, status: "failed", error: responseError(failure) }));
}

/** Reads the error of a failed response or an `error` event, nested or flat. */
export function responsesFailure(reported: JsonObject): Failure {
  const { code, message, param } = reported;
  const error = isObject(reported["error"])
    ? reported["error"]
    : { message: message ?? reported["error"], type: code, param, code };
  return reportedFailure(error, textOf(error["message"]) ?? "unknown error");
}
