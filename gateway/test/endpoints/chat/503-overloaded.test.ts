import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const roomBytes = 1024 * 1024;
let gateway: StartedGateway;

beforeAll(async () => {
  gateway = await startGateway({
    environment: { bodyMemoryBytes: roomBytes },
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
  return Number(/\nsluice_request_body_bytes (\d+)/.exec(text)?.[1]);
}

test("a body that does not fit into the room for all bodies is refused in its caller's dialect", async () => {
  const refused = await gateway.chat(long(700_000));
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
  const anthropic = await gateway.post(
    "/v1/messages",
    { ...long(700_000), max_tokens: 5 },
    { headers: { "anthropic-version": "2023-06-01" } },
  );
  expect(anthropic.status).toBe(503);
  expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  expect((await gateway.chat(long(300_000))).status).toBe(200);
  expect(await held()).toBe(0);
});

test("a packed body counts as what comes out of it", async () => {
  const packed = gzipSync(JSON.stringify(long(900_000)));
  const refused = await gateway.post("/v1/chat/completions", packed, { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(refused)).toMatchObject({ status: 503, code: "overloaded" });
  expect(await held()).toBe(0);
});

test("what one caller has sent so far is not there for another, until that one goes away", async () => {
  const sent = 900_000;
  const socket = connect(gateway.gateway.server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${sent + 1}\r\n\r\n${" ".repeat(sent)}`,
  );
  await until(async () => (await held()) >= sent);
  expect(await errorOf(await gateway.chat(long(300_000)))).toMatchObject({ status: 503, code: "overloaded" });
  // Small ones go on beside it.
  expect((await gateway.chat(hello)).status).toBe(200);
  socket.destroy();
  await until(async () => (await held()) === 0);
  expect((await gateway.chat(long(300_000))).status).toBe(200);
});
