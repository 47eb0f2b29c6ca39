import { requireVendorVersion } from "#protocols/index.ts";
import type { Exchange } from "../dependencies.ts";
import { messagesProtocol } from "../endpoint-protocols.ts";
import { modelCall } from "../model-call.ts";

/** POST /v1/messages, normal and streaming. */
export const messages = modelCall({ protocol: messagesProtocol, require: requireVersion, forwardsQuery: true });

/** The version is the caller's choice, of whichever vendor, and goes on as it is. Source: Anthropic API, "Versions". */
export function requireVersion({ request }: Exchange): void {
  requireVendorVersion(request.headers);
}
