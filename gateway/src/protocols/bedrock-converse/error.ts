import type { Failure } from "#core/index.ts";
import type { UpstreamRefusal } from "../dialect.ts";
import { errorReported } from "../error-event.ts";
import { objectOf, parseObject, textOf } from "../json-value.ts";

/** `{"message"}`; the code stands in a header, which is the provider's kind to read. */
export function readConverseRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const refusal = parseObject(decoder.decode(body));
  const message = textOf(refusal?.["message"]) ?? textOf(refusal?.["Message"]) ?? `HTTP status ${status}`;
  return {
    status,
    message,
    code: textOf(refusal?.["__type"]),
    // A ValidationException of a prompt that is too long is told by its message alone.
    contextLength: status === 400 && tooLongPattern.test(message),
  };
}

/** An error inside a stream, as AwsEventStream writes it. */
export function converseStreamFailure(error: unknown): Failure {
  const { type, message } = objectOf(error);
  const said = textOf(message) ?? "unknown error";
  const isTooLong = type === "invalid_request_error" && tooLongPattern.test(said);
  return errorReported(error, said, { isTooLong, body: { type: "error", error } });
}

const tooLongPattern = /too long|too many (?:input )?tokens|context (?:length|window)|maximum.{0,40}tokens/i;

const decoder = new TextDecoder();
