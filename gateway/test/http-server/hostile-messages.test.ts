import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ServerAnswer } from "#http-server/index.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { goodRequests, refusedRequests } from "../http1/vectors.ts";
import { type EchoServer, startEcho } from "./echo-server.ts";

let echo: EchoServer;
beforeAll(() => {
  echo = startEcho();
});
afterAll(() => echo?.stop());

const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
const statuses = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));

describe("refuses an ambiguous message and reads nothing after it:", () => {
  test.each(refusedRequests.map(([what, text]) => [what, text] as const))("%s", async (what, text) => {
    echo.requests.length = 0;
    const answered = await echo.exchange(text + smuggled);
    // A head without an end swallows everything after it, and is not answered when its sender disconnects.
    const last = statuses(answered).at(-1);
    if (what !== "a head without an end") expect(last).toBeGreaterThanOrEqual(400);
    expect(echo.requests.filter(({ start }) => start.includes("smuggled"))).toEqual([]);
    expect(answered).not.toContain("smuggled");
  });
});

test("answers good messages in one write one after the other", async () => {
  const plain = goodRequests.filter(([, text]) => !/connection: close|HTTP\/1\.0|100-continue|upgrade/i.test(text));
  const answered = await echo.exchange(plain.map(([, text]) => text).join("") + smuggled);
  const starts = [...answered.matchAll(/"start":"([^"]+)"/g)].map((match) => match[1]);
  expect(starts).toEqual([
    ...plain.map(([, , start]) => start.replace(/ 1\.[01]$/, "").replace("http://a.example", "")),
    "GET /smuggled",
  ]);
});

test("a request with a content length of 0 has no body", async () => {
  const server = startEcho({
    answer: ({ body }, reply) => reply.send(new ServerAnswer(200, {}, Buffer.from(`body: ${body === null}`))),
  });
  const answered = await server.exchange(
    ...["", "content-length: 0\r\n", "content-length: 1\r\n"].map(
      (line) => `DELETE / HTTP/1.1\r\nhost: a\r\n${line}\r\n${line.includes("1") ? "x" : ""}`,
    ),
  );
  server.stop();
  expect([...answered.matchAll(/body: (true|false)/g)].map(([, isNull]) => isNull)).toEqual(["true", "true", "false"]);
});

const post = `POST /v1/x?y HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello`;
const chunks =
  "POST /v1/z HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\na: b\r\n\r\n";

test("reads a request the same for any cut", async () => {
  const text = post + chunks;
  const socket = openSocket(echo.port);
  for (let cut = 1; cut < text.length; cut++) {
    echo.requests.length = 0;
    const seen = socket.text().length;
    socket.write(text.slice(0, cut));
    // Wait for the first half's effect, so that the second cannot arrive together with it.
    await new Promise(setImmediate);
    socket.write(text.slice(cut));
    await socket.untilAfter(seen, '"start":"POST /v1/z","body":"hello"}');
    expect(echo.requests).toEqual([
      { start: "POST /v1/x?y", body: "hello" },
      { start: "POST /v1/z", body: "hello" },
    ]);
  }
  socket.end();
});

test("never accepts an incomplete request", async () => {
  for (const text of [post, chunks]) {
    for (let cut = 0; cut < text.length; cut++) {
      echo.requests.length = 0;
      const answered = await echo.exchange(text.slice(0, cut));
      expect({ cut, requests: echo.requests, ok: answered.includes(" 200 ") }).toEqual({
        cut,
        requests: [],
        ok: false,
      });
    }
  }
});
