import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { bentMessages } from "../http1/bent-messages.ts";
import { type OtherProgram, startOther } from "../http1/other-program.ts";
import { goodRequests, refusedRequests } from "../http1/vectors.ts";
import { type EchoServer, type Heard, startEcho } from "./echo-server.ts";

let echo: EchoServer;
let other: OtherProgram<readonly Heard[]>;
beforeAll(() => {
  echo = startEcho();
  other = startOther(join(import.meta.dir, "other-server.mjs"));
});
afterAll(() => {
  echo?.stop();
  other?.stop();
});

/** Whatever our server answers, Node's hears in the same order and words; it may hear more, never something else. */
async function compare(text: string): Promise<void> {
  echo.heard.length = 0;
  echo.hosts.length = 0;
  await echo.exchange(text);
  // Node's server answers by itself whatever has a method that it does not know, or not one Host; then it reads no further.
  const strange = echo.heard.findIndex(({ start }, at) => !known.test(start) || !oneHost(echo.hosts[at] ?? null));
  const ours = echo.heard.slice(0, strange < 0 ? undefined : strange);
  const theirs = (await other.ask(text)).map((one) => ({ ...one, start: one.start.replace(wholeAddress, "$1 /") }));
  expect({ text, heard: theirs.slice(0, ours.length) }).toEqual({ text, heard: ours });
}

/** Ours is asked by the path of it. */
const wholeAddress = /^(\S+) https?:\/\/[^/?\s]+\/?/i;
const known = /^(?:GET|POST|PUT|DELETE|HEAD|PATCH) /;
const oneHost = (host: string | null): boolean => host !== null && !host.includes(",");

/** What Node's server refuses by itself, beyond what it reads: a method that it does not know, no Host, an upgrade, a strange target. */
const elsewhere = /upgrade|expect|HTTP\/1\.0|OPTIONS|\*/i;

test("Node's server accepts every request that ours answers", async () => {
  for (const [, text] of goodRequests) if (/host:/i.test(text) && !elsewhere.test(text)) await compare(text);
  for (const [, text] of refusedRequests) if (/host:/i.test(text) && !elsewhere.test(text)) await compare(text);
});

const words =
  "GET POST / /a?b HTTP/1.1 host: content-length: transfer-encoding: chunked identity x: y 0 1 3 a 5;e=f abc hello close keep-alive".split(
    " ",
  );

test("Node's server agrees on random mutations of requests", async () => {
  const good = goodRequests.map(([, text]) => text).filter((text) => /host:/i.test(text) && !elsewhere.test(text));
  const bent = bentMessages(good, words);
  await fc.assert(fc.asyncProperty(bent, compare), { numRuns: Number(process.env["HTTP1_RUNS"] ?? 400) });
});
