import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const mebibyte = 1024 * 1024;
let gateway: StartedGateway;

beforeAll(async () => {
  gateway = await startGateway({
    // 2.5 MiB for what is large, half of it for one key; a body counts twice.
    environment: { memoryBytes: 8 * mebibyte },
    providers: (simulator) => [upstream("main", simulator)],
  });
});
afterAll(() => gateway.stop());

const long = (bytes: number): object => ({
  ...hello,
  messages: [{ role: "user", content: "x".repeat(bytes) }],
});

async function held(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/\nsluice_caller_memory_bytes\{kind="request"\} (\d+)/.exec(text)?.[1]);
}

test("a body that does not fit into the memory for callers is refused in its caller's dialect", async () => {
  const refused = await gateway.chat(long(mebibyte));
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
  const anthropic = await gateway.post(
    "/v1/messages",
    { ...long(mebibyte), max_tokens: 5 },
    { headers: { "anthropic-version": "2023-06-01" } },
  );
  expect(anthropic.status).toBe(503);
  expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  expect((await gateway.chat(long(500_000))).status).toBe(200);
  expect(await held()).toBe(0);
});

test("a packed body counts as what comes out of it", async () => {
  const packed = gzipSync(JSON.stringify(long(1_000_000)));
  const refused = await gateway.post("/v1/chat/completions", packed, { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
  expect(await held()).toBe(0);
});

test("a key that has sent its share is refused with 429 until it ends a call or goes away", async () => {
  const sent = mebibyte;
  const socket = connect(gateway.gateway.server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${sent + 1}\r\n\r\n${" ".repeat(sent)}`,
  );
  await until(async () => (await held()) >= sent);
  const refused = await gateway.chat(long(500_000));
  expect(refused.headers.get("retry-after")).toBe("2");
  expect(await errorOf(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  // Small ones go on beside it.
  expect((await gateway.chat(hello)).status).toBe(200);
  socket.destroy();
  await until(async () => (await held()) === 0);
  expect((await gateway.chat(long(500_000))).status).toBe(200);
});
