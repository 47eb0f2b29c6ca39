import type { Caller } from "./ask.ts";
import { chatCaller } from "./caller-chat.ts";
import { generateCaller } from "./caller-generate.ts";
import { messagesCaller } from "./caller-messages.ts";
import { responsesCaller } from "./caller-responses.ts";
import type { Door } from "./door.ts";

/** Every SDK that the matrix calls with: the rows. */
export function matrixCallers(door: Door): readonly Caller[] {
  return [
    chatCaller(door, "latest"),
    chatCaller(door, "previous"),
    responsesCaller(door, "latest"),
    responsesCaller(door, "previous"),
    messagesCaller(door, "latest"),
    messagesCaller(door, "previous"),
    messagesCaller(door, "previous beta"),
    generateCaller(door, "latest"),
    generateCaller(door, "previous"),
  ];
}

/** One for each dialect. */
export function latestCallers(door: Door): readonly Caller[] {
  return [
    chatCaller(door, "latest"),
    responsesCaller(door, "latest"),
    messagesCaller(door, "latest"),
    generateCaller(door, "latest"),
  ];
}
