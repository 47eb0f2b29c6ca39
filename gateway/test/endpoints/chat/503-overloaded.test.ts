import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const mebibyte = 1024 * 1024;
let gateway: StartedGateway;

beforeAll(async () => {
  gateway = await startGateway({
    // That leaves 2.5 MiB for large bodies, half of it for one key. A body counts twice.
    environment: { memoryBytes: 8 * mebibyte },
    providers: (simulator) => [upstream("main", simulator)],
  });
});
afterAll(() => gateway.stop());

const withLength = (bytes: number): object => ({
  ...hello,
  messages: [{ role: "user", content: "x".repeat(bytes) }],
});

async function reservedBytes(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/\nsluice_caller_memory_bytes\{kind="request"\} (\d+)/.exec(text)?.[1]);
}

test("returns 503 in the caller's dialect when a body does not fit into the memory for requests", async () => {
  const refused = await gateway.chat(withLength(mebibyte));
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
  const anthropic = await gateway.post(
    "/v1/messages",
    { ...withLength(mebibyte), max_tokens: 5 },
    { headers: { "anthropic-version": "2023-06-01" } },
  );
  expect(anthropic.status).toBe(503);
  expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  expect((await gateway.chat(withLength(500_000))).status).toBe(200);
  expect(await reservedBytes()).toBe(0);
});

test("counts a compressed body by its decompressed size", async () => {
  const compressed = gzipSync(JSON.stringify(withLength(1_000_000)));
  const refused = await gateway.post("/v1/chat/completions", compressed, { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
  expect(await reservedBytes()).toBe(0);
});

test("returns 429 to a key that has used its share of memory, until its other call ends", async () => {
  const sent = mebibyte;
  const socket = connect(gateway.gateway.server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${sent + 1}\r\n\r\n${" ".repeat(sent)}`,
  );
  await until(async () => (await reservedBytes()) >= sent);
  const refused = await gateway.chat(withLength(500_000));
  expect(refused.headers.get("retry-after")).toBe("2");
  expect(await errorOf(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  // Small bodies are still accepted.
  expect((await gateway.chat(hello)).status).toBe(200);
  socket.destroy();
  await until(async () => (await reservedBytes()) === 0);
  expect((await gateway.chat(withLength(500_000))).status).toBe(200);
});
