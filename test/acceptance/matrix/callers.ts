import type { Caller } from "./ask.ts";
import { chatCaller } from "./caller-chat.ts";
import { generateCaller } from "./caller-generate.ts";
import { messagesCaller } from "./caller-messages.ts";
import { responsesCaller } from "./caller-responses.ts";
import type { GatewayAccess } from "./gateway-access.ts";

/** Every SDK that the matrix calls with: the rows. */
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
  ];
}

/** One for each dialect. */
export function latestCallers(access: GatewayAccess): readonly Caller[] {
  return [
    chatCaller(access, "latest"),
    responsesCaller(access, "latest"),
    messagesCaller(access, "latest"),
    generateCaller(access, "latest"),
  ];
}
