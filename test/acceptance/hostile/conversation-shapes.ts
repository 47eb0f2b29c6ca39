import { accepted, chat, chatOf, either, type HostileShape, MiB, many, userMessage } from "./hostile-shape.ts";

/** Conversations with many messages. */
export const conversations: readonly HostileShape[] = [
  ["openai", 1_000_000, [413]],
  ["claude", 1_000_000, [413]],
  ["openai", 120_000, accepted],
  ["claude", 60_000, either],
  ["gemini", 60_000, either],
].map(([model, count, answers]) => ({
  name: `chat with ${model}: ${count} messages`,
  path: chat,
  body: chatOf(String(model), () => many(Number(count), userMessage)),
  answers: answers as readonly number[],
}));

export const unreadable: readonly HostileShape[] = [
  ["empty body", ""],
  ["a byte order mark", `\ufeff${chatOf("openai", () => userMessage)()}`],
  ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ["an array of a million values", `[${"1,".repeat(1_000_000)}1]`],
  ["30 MiB of brackets", "[".repeat(30 * MiB)],
  ["30 MiB of zero bytes", new Uint8Array(30 * MiB)],
  ["30 MiB of quotes", '"'.repeat(30 * MiB)],
  ["30 MiB of backslashes in a name", `{"${"\\\\".repeat(15 * MiB)}`],
].map(([name, body]) => ({
  name: `invalid JSON: ${String(name)}`,
  path: chat,
  body: () => body as string | Uint8Array,
  answers: name === "invalid UTF-8" || name === "a byte order mark" ? [400] : [400, 413],
}));
