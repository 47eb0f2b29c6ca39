import { Failure, failureTable } from "#core/index.ts";
import { type JsonObject, objectOf, textOf } from "../json-value.ts";
import { contextLengthCode } from "../openai-chat/error.ts";
import { bareResponse } from "./bare-response.ts";

/**
 * A failure inside a stream that has begun: first the `error` event, at which the SDKs raise (the older ones only if
 * the error is nested, the types say flat: it is both), then `response.failed`, which is all that Codex listens to.
 * OpenAI sends the two in this order. `response` is the failed response as JSON text.
 */
export function failureEvents(failure: Failure, response: string, sequence: number): string {
  const { message, param } = failure;
  const code = failure.contextLength ? contextLengthCode : failure.code;
  const event = {
    type: "error",
    code,
    message,
    param,
    sequence_number: sequence,
    error: { type: failureTable[failure.code].type, code, message, param },
  };
  return (
    `event: error\ndata: ${JSON.stringify(event)}\n\n` +
    `event: response.failed\ndata: {"type":"response.failed","response":${response},"sequence_number":${sequence + 1}}\n\n`
  );
}

/** The error member of a failed response. Its codes are fewer than ours. */
export function responseError(failure: Failure): { readonly code: string; readonly message: string } {
  if (failure.contextLength) return { code: contextLengthCode, message: failure.message };
  const code = failure.code === "rate_limit_exceeded" ? "rate_limit_exceeded" : "server_error";
  return { code, message: failure.message };
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
export function upstreamFailure(said: JsonObject): Failure {
  const error = "error" in said ? objectOf(said["error"]) : said;
  const code = textOf(error["code"]) ?? textOf(error["type"]) ?? "";
  const message = textOf(error["message"]) ?? textOf(said["error"]) ?? "unknown error";
  const text = `The upstream reported an error: ${message}`;
  if (code === contextLengthCode) return new Failure("invalid_request", text, { contextLength: true });
  if (faultsOfTheRequest.has(code)) return new Failure("invalid_request", text);
  return new Failure("upstream_error", text, { retry: "other", unhealthy: true });
}

/** Another upstream would refuse it just the same. */
const faultsOfTheRequest: ReadonlySet<string> = new Set([
  "invalid_prompt",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "empty_image_file",
]);
