import { requireVendorVersion } from "#protocols/index.ts";
import type { Exchange } from "../face.ts";
import { modelCall } from "../model-call.ts";
import { messagesSpeech } from "../speeches.ts";

/** POST /v1/messages, normal and streaming. */
export const messages = modelCall({ speech: messagesSpeech, require: requireVersion, forwardsQuery: true });

/** The version is the caller's choice, of whichever vendor, and goes on as it is. Source: Anthropic API, "Versions". */
export function requireVersion({ request }: Exchange): void {
  requireVendorVersion(request.headers);
}
