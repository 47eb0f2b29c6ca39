import { chat, chatOf, either, type HostileShape, MiB, many, passed, said } from "./hostile-shape.ts";

/** Conversations that are long themselves. */
export const conversations: readonly HostileShape[] = [
  ["openai", 1_000_000, [413]],
  ["claude", 1_000_000, [413]],
  ["openai", 120_000, passed],
  ["claude", 60_000, either],
  ["gemini", 60_000, either],
].map(([model, count, answers]) => ({
  name: `chat with ${model}: ${count} messages`,
  path: chat,
  body: chatOf(String(model), () => many(Number(count), said)),
  answers: answers as readonly number[],
}));

export const unreadable: readonly HostileShape[] = [
  ["nothing", ""],
  ["a byte order mark", `\ufeff${chatOf("openai", () => said)()}`],
  ["letters that are none", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ["an array of a million", `[${"1,".repeat(1_000_000)}1]`],
  ["thirty megabytes of brackets", "[".repeat(30 * MiB)],
  ["thirty megabytes of nothing", new Uint8Array(30 * MiB)],
  ["thirty megabytes of quotes", '"'.repeat(30 * MiB)],
  ["thirty megabytes of backslashes in a name", `{"${"\\\\".repeat(15 * MiB)}`],
].map(([name, body]) => ({
  name: `no JSON: ${String(name)}`,
  path: chat,
  body: () => body as string | Uint8Array,
  answers: name === "letters that are none" || name === "a byte order mark" ? [400] : [400, 413],
}));
