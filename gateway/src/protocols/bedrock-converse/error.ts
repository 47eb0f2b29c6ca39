import type { Failure } from "#core/index.ts";
import type { UpstreamRefusal } from "../dialect.ts";
import { errorReported } from "../errors/error-event.ts";
import { isTooLong } from "../errors/upstream-errors.ts";
import { objectOf, parseObject, textOf } from "../json/value.ts";

/** `{"message"}`; the code stands in a header, which is the provider's kind to read. */
export function readConverseRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const refusal = parseObject(decoder.decode(body));
  const message = textOf(refusal?.["message"]) ?? textOf(refusal?.["Message"]) ?? `HTTP status ${status}`;
  return {
    status,
    message,
    code: textOf(refusal?.["__type"]),
    contextLength: isTooLong(status, null, message),
  };
}

/** An error inside a stream, as AwsEventStream writes it. */
export function converseStreamFailure(error: unknown): Failure {
  const { message } = objectOf(error);
  const said = textOf(message) ?? "unknown error";
  return errorReported(error, said, { type: "error", error });
}

const decoder = new TextDecoder();
