import { Failure } from "#core/index.ts";
import { isObject, textOf } from "../json-value.ts";
import { saysTooLong } from "./error.ts";
import { errorMessage } from "./reply.ts";

/** Refusals of the request itself: they say nothing of the upstream's health. */
const ofRequest: ReadonlySet<string> = new Set(["invalid_request_error", "not_found_error", "request_too_large"]);

/** The status that Anthropic gives the same error outside of a stream. */
const overloaded = { status: 529, contentType: "application/json", body: new Uint8Array(0) } as const;

/** An `error` event's error as what ended the stream. */
export function streamFailure(error: unknown): Failure {
  const type = isObject(error) ? textOf(error["type"]) : null;
  const message = errorMessage(error);
  return new Failure("upstream_error", `The upstream reported an error: ${message}`, {
    retry: "other",
    contextLength: saysTooLong(message),
    unhealthy: type === null || !ofRequest.has(type),
    ...(type === "overloaded_error" ? { upstream: overloaded } : {}),
  });
}
