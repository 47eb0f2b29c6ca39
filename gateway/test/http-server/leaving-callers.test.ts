import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { ServerAnswer } from "#http-server/index.ts";
import { until } from "../../../test/until.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { FakeClock } from "../fake-clock.ts";
import { answeredBy, type EchoServer, startEcho } from "./echo-server.ts";

const fixtures = join(import.meta.dir, "..", "fixtures", "tls");
const certificate = {
  chain: readFileSync(join(fixtures, "gateway.example.cert.pem"), "utf8"),
  key: readFileSync(join(fixtures, "gateway.example.key.pem"), "utf8"),
};
let echo: EchoServer;
let secureEcho: EchoServer;
/** Streams that have begun and not ended. */
const openStreams = new Set<object>();
beforeAll(() => {
  echo = startEcho({ answer });
  secureEcho = startEcho({ answer, certificate });
});
afterAll(() => {
  echo?.stop();
  secureEcho?.stop();
});

const answer = answeredBy(async (request) => {
  const { target } = request;
  const body = await request.bytes().catch(() => null);
  if (body === null) return new ServerAnswer(400, {}, null);
  if (!target.includes("stream")) return new ServerAnswer(200, {}, body);
  const own = {};
  openStreams.add(own);
  let events = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await new Promise(setImmediate);
        if (events++ < 20) controller.enqueue(Buffer.from(`data: ${events}\n\n`));
        else {
          openStreams.delete(own);
          controller.close();
        }
      },
      cancel() {
        openStreams.delete(own);
      },
    },
    { highWaterMark: 0 },
  );
  return new ServerAnswer(200, {}, stream);
});

const post = "POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello";
const chunked = "POST /v1/x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
const long = `POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n${"x".repeat(60_000)}`;
const stream = "GET /v1/stream HTTP/1.1\r\nhost: a\r\n\r\n";

test.each([
  ["", false],
  [", over TLS", true],
])("callers that disconnect at any moment, in any way, leak nothing%s", async (_name, secure) => {
  const { port, server } = secure ? secureEcho : echo;
  const caller = fc.record({
    requests: fc.array(fc.constantFrom(post, chunked, long, stream), { minLength: 1, maxLength: 4 }),
    cut: fc.oneof(fc.nat(300), fc.nat(250_000)),
    turns: fc.nat(6),
    way: fc.constantFrom("end", "reset", "finish", "stay"),
  });
  const runs = Number(process.env["HTTP1_RUNS"] ?? (secure ? 100 : 300));
  await fc.assert(
    fc.asyncProperty(fc.array(caller, { minLength: 1, maxLength: 6 }), async (callers) => {
      await Promise.all(
        callers.map(async ({ requests, cut, turns, way }) => {
          const socket = openSocket(port, secure);
          const text = requests.join("");
          socket.write(way === "stay" ? text : text.slice(0, cut));
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          if (way === "stay") {
            await until(() => socket.text().split("HTTP/1.1 200").length > requests.length);
            socket.end();
          } else if (way === "end") socket.end();
          else socket[way]();
          await socket.closed;
        }),
      );
      await until(() => server.connections === 0 && server.pending === 0 && openStreams.size === 0);
    }),
    { numRuns: runs },
  );
});

test("every wait for a caller has a timeout", async () => {
  const clock = new FakeClock();
  const slow = startEcho({ clock, answer, idleMs: 60_000 });
  const wait = async (sent: string, begun: boolean, ms: number): Promise<string> => {
    const socket = openSocket(slow.port);
    socket.write(sent);
    if (sent.startsWith("POST")) await (begun ? until(() => slow.server.pending === 1) : socket.until("hello"));
    await until(() => slow.server.connections === 1 && slow.server.idle === (begun ? 0 : 1));
    for (let elapsed = 0; elapsed < ms - 1_000; elapsed += 500) clock.advance(500);
    expect(slow.server.connections).toBe(1);
    for (let elapsed = 0; elapsed < 10_000; elapsed += 500) clock.advance(500);
    return await socket.closed;
  };
  expect(await wait("", false, 60_000)).toBe("");
  expect(await wait(post, false, 60_000)).toStartWith("HTTP/1.1 200 ");
  expect(await wait("GET /v1/x HTTP/1.1\r\nho", true, 60_000)).toContain("x-reason: late");
  expect(await wait(post.slice(0, -2), true, 310_000)).toBe("");
  slow.stop();
});
