import type { Caller } from "./call-spec.ts";
import { chatCaller } from "./caller-chat.ts";
import { generateCaller } from "./caller-generate.ts";
import { interactionsCaller } from "./caller-interactions.ts";
import { messagesCaller } from "./caller-messages.ts";
import { responsesCaller } from "./caller-responses.ts";
import type { GatewayAccess } from "./gateway-access.ts";

/** The SDKs that the matrix calls with: its rows. */
export function matrixCallers(access: GatewayAccess): readonly Caller[] {
  return [
    chatCaller(access, "latest"),
    chatCaller(access, "previous"),
    responsesCaller(access, "latest"),
    responsesCaller(access, "previous"),
    messagesCaller(access, "latest"),
    messagesCaller(access, "previous"),
    messagesCaller(access, "previous beta"),
    generateCaller(access, "latest"),
    generateCaller(access, "previous"),
    interactionsCaller(access),
  ];
}

/** The latest SDK of each dialect. */
export function latestCallers(access: GatewayAccess): readonly Caller[] {
  return [
    chatCaller(access, "latest"),
    responsesCaller(access, "latest"),
    messagesCaller(access, "latest"),
    generateCaller(access, "latest"),
    interactionsCaller(access),
  ];
}
