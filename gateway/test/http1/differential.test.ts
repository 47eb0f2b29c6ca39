import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { readMessages } from "./read-messages.ts";
import { goodRequests, refusedRequests } from "./vectors.ts";

interface Read {
  readonly messages: readonly { start: string; fields: readonly string[]; body: string; whole: boolean }[];
  readonly refused: string | null;
}

let other: ReturnType<typeof startOther>;

function startOther() {
  const program = Bun.which("node");
  if (program === null) throw new Error("npm needs Node, so it is here");
  const child = Bun.spawn([program, "--no-warnings", join(import.meta.dir, "other-parser.mjs")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  return {
    async read(text: string): Promise<Read> {
      child.stdin.write(`${Buffer.from(text, "latin1").toString("base64")}\n`);
      child.stdin.flush();
      while (!held.includes("\n")) {
        const { value, done } = await lines.read();
        if (done) throw new Error("the other parser has ended");
        held += value;
      }
      const end = held.indexOf("\n");
      const line = held.slice(0, end);
      held = held.slice(end + 1);
      return JSON.parse(line) as Read;
    },
    stop: () => child.kill(),
  };
}

beforeAll(() => {
  other = startOther();
});
afterAll(() => other?.stop());

const elsewhereRefused: ReadonlySet<string> = new Set(["HPE_INVALID_METHOD", "HPE_CLOSED_CONNECTION"]);

/** Where we read something, the other reads the same; it may read more, never less. */
async function compare(text: string): Promise<void> {
  const ours = readMessages(text);
  const theirs = await other.read(text);
  // Methods that nobody knows, and what follows a last message, are left to whoever uses our reader.
  const elsewhere = elsewhereRefused.has(theirs.refused ?? "");
  for (const [index, message] of ours.messages.entries()) {
    if (!message.whole || (elsewhere && index >= theirs.messages.length)) return;
    expect({ text, message: theirs.messages[index] }).toEqual({ text, message });
  }
  if (ours.refused === null && !ours.waiting)
    expect({ text, refused: theirs.refused }).toEqual({ text, refused: null });
}

test("what is read here, Node's parser reads in the same way", async () => {
  for (const [, text] of goodRequests) {
    expect(readMessages(text).refused).toBeNull();
    await compare(text);
  }
  for (const [, text] of refusedRequests) await compare(text);
});

const pieces = [
  ..."GET POST PUT / /a?b HTTP/1.1 HTTP/1.0 host: content-length: transfer-encoding: chunked identity x: y 0 1 3 a 5;e=f abc hello connection: close keep-alive expect: 100-continue".split(
    " ",
  ),
  ...[
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    "\0",
    "\x0b",
    ":",
    ",",
    ";",
    '"',
    "\r\n\r\n",
    "0\r\n\r\n",
    "3\r\nabc\r\n",
    "\xff",
    "+",
    "-",
  ],
];

test("whatever is made of messages by chance, too", async () => {
  const good = goodRequests.map(([, text]) => text);
  const bent = fc
    .tuple(
      fc.array(fc.constantFrom(...good), { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(6), fc.constantFrom(...pieces)), { maxLength: 3 }),
    )
    .map(([texts, changes]) =>
      changes.reduce((text, [at, drop, piece]) => {
        const from = at % (text.length + 1);
        return text.slice(0, from) + piece + text.slice(from + drop);
      }, texts.join("")),
    );
  await fc.assert(fc.asyncProperty(bent, compare), { numRuns: Number(process.env["HTTP1_RUNS"] ?? 3_000) });
});
