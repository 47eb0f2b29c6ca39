import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { mutatedMessages } from "../http1/mutated-messages.ts";
import { type OtherProgram, startOther } from "../http1/other-program.ts";
import { goodRequests, refusedRequests } from "../http1/vectors.ts";
import { type EchoedRequest, type EchoServer, startEcho } from "./echo-server.ts";

let echo: EchoServer;
let other: OtherProgram<readonly EchoedRequest[]>;
beforeAll(() => {
  echo = startEcho();
  other = startOther(join(import.meta.dir, "other-server.mjs"));
});
afterAll(() => {
  echo?.stop();
  other?.stop();
});

/**
 * Node's server reads every request that ours answers, in the same order and with the same content. It may read more.
 */
async function compare(text: string): Promise<void> {
  echo.requests.length = 0;
  echo.hosts.length = 0;
  await echo.exchange(text);
  // Node's server rejects an unknown method or a missing or repeated Host itself, and then reads no further.
  const strange = echo.requests.findIndex(
    ({ start }, at) => !supportedMethod.test(start) || !oneHost(echo.hosts[at] ?? null),
  );
  const ours = echo.requests.slice(0, strange < 0 ? undefined : strange);
  const theirs = (await other.ask(text)).map((one) => ({ ...one, start: one.start.replace(wholeAddress, "$1 /") }));
  expect({ text, requests: theirs.slice(0, ours.length) }).toEqual({ text, requests: ours });
}

/** Ours reports the path of an absolute target. */
const wholeAddress = /^(\S+) https?:\/\/[^/?\s]+\/?/i;
const supportedMethod = /^(?:GET|POST|PUT|DELETE|HEAD|PATCH) /;
const oneHost = (host: string | null): boolean => host !== null && !host.includes(",");

/** Requests that Node's server handles specially: unknown methods, no Host, upgrades, unusual targets. */
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
  const mutated = mutatedMessages(good, words);
  await fc.assert(fc.asyncProperty(mutated, compare), { numRuns: Number(process.env["HTTP1_RUNS"] ?? 400) });
});
