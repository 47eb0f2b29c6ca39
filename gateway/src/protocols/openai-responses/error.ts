import { type Failure, failureTable } from "#core/index.ts";
import { refusalBody, reportedFailure } from "../errors/error-event.ts";
import { contextLengthCode } from "../errors/upstream-errors.ts";
import { isObject, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { bareResponse } from "./response-object.ts";

/**
 * A failure inside a stream that has begun: first the `error` event, at which the SDKs raise (the older ones only if
 * the error is nested, the types say flat: it is both), then `response.failed`, which is all that Codex listens to.
 * OpenAI sends the two in this order. `response` is the failed response as JSON text.
 */
export function failureEvents(failure: Failure, response: string, sequence: number): string {
  const error = errorOf(failure);
  const { code, message, param } = error;
  const event = { type: "error", code, message, param, sequence_number: sequence, error };
  return (
    `event: error\ndata: ${JSON.stringify(event)}\n\n` +
    `event: response.failed\ndata: {"type":"response.failed","response":${response},"sequence_number":${sequence + 1}}\n\n`
  );
}

/** The error member of a failed response. Its codes are fewer than ours. */
export function responseError(failure: Failure): { readonly code: string; readonly message: string } {
  const { code, message } = errorOf(failure);
  return { code: terminalCodes.get(code) ?? "server_error", message };
}

/** What a client of failed responses knows by name: Codex waits, gives up or shortens the conversation by these. */
const terminalCodes: ReadonlyMap<string, string> = new Map([
  ...[contextLengthCode, "rate_limit_exceeded", "insufficient_quota", "invalid_prompt"].map(
    (code) => [code, code] as const,
  ),
  ["overloaded", "server_is_overloaded"],
  ["server_is_overloaded", "server_is_overloaded"],
]);

/** The `error` member of the refusal that an upstream's error is; else of a failure of ours. */
function errorOf(failure: Failure) {
  const { type } = failureTable[failure.code];
  const { message, param, contextLength } = failure;
  const own = { type, code: contextLength ? contextLengthCode : failure.code, message, param };
  const body = refusalBody(failure);
  if (body === null) return own;
  const said = objectOf(parseObject(body)?.["error"]);
  return {
    type: textOf(said["type"]) ?? own.type,
    code: textOf(said["code"]) ?? textOf(said["type"]) ?? own.code,
    message: textOf(said["message"]) ?? message,
    param: textOf(said["param"]) ?? param,
  };
}

/** For a stream of which nothing is known but that it failed. */
export function renderResponsesStreamError(failure: Failure, requestId: string): string {
  return failureEvents(failure, bareFailedResponse(failure, `resp_${requestId}`), 0);
}

/** A failed response that says no more than its id and error. */
export function bareFailedResponse(failure: Failure, id: string): string {
  return JSON.stringify(bareResponse({ id, status: "failed", error: responseError(failure) }));
}

/** What an upstream says in the error of a failed response or in an `error` event, nested or flat. */
export function responsesFailure(said: JsonObject): Failure {
  const { code, message, param } = said;
  const error = isObject(said["error"])
    ? said["error"]
    : { message: message ?? said["error"], type: code, param, code };
  return reportedFailure(error, textOf(error["message"]) ?? "unknown error");
}
