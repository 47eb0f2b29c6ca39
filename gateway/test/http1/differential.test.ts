import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { mutatedMessages } from "./mutated-messages.ts";
import { type OtherProgram, startOther } from "./other-program.ts";
import { readMessages } from "./read-messages.ts";
import { goodRequests, refusedRequests } from "./vectors.ts";

interface Read {
  readonly messages: readonly { start: string; fields: readonly string[]; body: string; whole: boolean }[];
  readonly refused: string | null;
}

let other: OtherProgram<Read>;

beforeAll(() => {
  other = startOther(join(import.meta.dir, "other-parser.mjs"));
});
afterAll(() => other?.stop());

const elsewhereRefused: ReadonlySet<string> = new Set(["HPE_INVALID_METHOD", "HPE_CLOSED_CONNECTION"]);

/** The other parser reads the same in everything that ours accepts. It may accept more, never less. */
async function compare(text: string): Promise<void> {
  const ours = readMessages(text);
  const theirs = await other.ask(text);
  // Our reader leaves unknown methods, and bytes after the last message, to its user.
  const elsewhere = elsewhereRefused.has(theirs.refused ?? "");
  for (const [index, message] of ours.messages.entries()) {
    if (!message.whole || (elsewhere && index >= theirs.messages.length)) return;
    expect({ text, message: theirs.messages[index] }).toEqual({ text, message });
  }
  if (ours.refused === null && !ours.waiting)
    expect({ text, refused: theirs.refused }).toEqual({ text, refused: null });
}

test("Node's parser reads every accepted message in the same way", async () => {
  for (const [, text] of goodRequests) {
    expect(readMessages(text).refused).toBeNull();
    await compare(text);
  }
  for (const [, text] of refusedRequests) await compare(text);
});

const words =
  "GET POST PUT / /a?b HTTP/1.1 HTTP/1.0 host: content-length: transfer-encoding: chunked identity x: y 0 1 3 a 5;e=f abc hello connection: close keep-alive expect: 100-continue".split(
    " ",
  );

test("Node's parser agrees on random mutations of messages", async () => {
  const good = goodRequests.map(([, text]) => text);
  const mutated = mutatedMessages(good, words);
  await fc.assert(fc.asyncProperty(mutated, compare), { numRuns: Number(process.env["HTTP1_RUNS"] ?? 3_000) });
});
