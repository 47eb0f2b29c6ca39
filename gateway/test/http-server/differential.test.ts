import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { goodRequests, refusedRequests } from "../http1/vectors.ts";
import { type EchoServer, type Heard, startEcho } from "./echo-server.ts";

let echo: EchoServer;
let other: ReturnType<typeof startOther>;
beforeAll(() => {
  echo = startEcho();
  other = startOther();
});
afterAll(() => {
  echo?.stop();
  other?.stop();
});

/** Node's server in a process of its own. */
function startOther() {
  const program = Bun.which("node");
  if (program === null) throw new Error("npm needs Node, so it is here");
  const child = Bun.spawn([program, "--no-warnings", join(import.meta.dir, "other-server.mjs")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  return {
    async hear(text: string): Promise<readonly Heard[]> {
      child.stdin.write(`${Buffer.from(text, "latin1").toString("base64")}\n`);
      child.stdin.flush();
      while (!held.includes("\n")) {
        const { value, done } = await lines.read();
        if (done) throw new Error("the other server has ended");
        held += value;
      }
      const end = held.indexOf("\n");
      const line = held.slice(0, end);
      held = held.slice(end + 1);
      return JSON.parse(line) as readonly Heard[];
    },
    stop: () => child.kill(),
  };
}

/** Whatever our server answers, Node's hears in the same order and words; it may hear more, never something else. */
async function compare(text: string): Promise<void> {
  echo.heard.length = 0;
  echo.hosts.length = 0;
  await echo.exchange(text);
  // Node's server answers by itself whatever has a method that it does not know, or not one Host; then it reads no further.
  const strange = echo.heard.findIndex(({ start }, at) => !known.test(start) || !oneHost(echo.hosts[at] ?? null));
  const ours = echo.heard.slice(0, strange < 0 ? undefined : strange);
  const theirs = await other.hear(text);
  expect({ text, heard: theirs.slice(0, ours.length) }).toEqual({ text, heard: ours });
}

const known = /^(?:GET|POST|PUT|DELETE|HEAD|PATCH) /;
const oneHost = (host: string | null): boolean => host !== null && !host.includes(",");

/** What Node's server refuses by itself, beyond what it reads: a method that it does not know, no Host, an upgrade, a strange target. */
const elsewhere = /upgrade|expect|HTTP\/1\.0|OPTIONS|\*/i;

test("what our server answers, Node's server hears too", async () => {
  for (const [, text] of goodRequests) if (/host:/i.test(text) && !elsewhere.test(text)) await compare(text);
  for (const [, text] of refusedRequests) if (/host:/i.test(text) && !elsewhere.test(text)) await compare(text);
});

const pieces = [
  ..."GET POST / /a?b HTTP/1.1 host: content-length: transfer-encoding: chunked identity x: y 0 1 3 a 5;e=f abc hello close keep-alive".split(
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
  const good = goodRequests.map(([, text]) => text).filter((text) => /host:/i.test(text) && !elsewhere.test(text));
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
  await fc.assert(fc.asyncProperty(bent, compare), { numRuns: Number(process.env["HTTP1_RUNS"] ?? 400) });
});
