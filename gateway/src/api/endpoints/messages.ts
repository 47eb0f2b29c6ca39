import { Failure } from "#core/index.ts";
import type { Exchange } from "../face.ts";
import { modelCall } from "../model-call.ts";
import { messagesSpeech } from "../speeches.ts";

/** POST /v1/messages, normal and streaming. */
export const messages = modelCall({ speech: messagesSpeech, require: requireVersion, forwardsQuery: true });

/** The version is the caller's choice and goes on as it is. Source: Anthropic API, "Versions". */
export function requireVersion({ request }: Exchange): void {
  const version = request.headers.get("anthropic-version");
  if (version === null || version === "") {
    throw new Failure("missing_version_header", "anthropic-version: header is required", {
      param: "anthropic-version",
    });
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(version)) return;
  throw new Failure("invalid_request", "anthropic-version: must be a date such as 2023-06-01", {
    param: "anthropic-version",
  });
}
