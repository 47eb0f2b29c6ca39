import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";
import { openSocket } from "./raw-socket.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ idleSeconds: 1 });
});
afterAll(() => gateway?.stop());

function call(body: unknown): string {
  const text = JSON.stringify(body);
  return (
    "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n" +
    `authorization: Bearer ${aliceKey}\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  );
}

const refused = { ...hello, model: "no-such-model" };
const elsewhere = call({ model: "no-such-model", input: "hello" }).replace("/chat/completions", "/responses");
const halfHead = "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthoriz";

test.concurrent.each([
  ["after a whole answer", call(hello), "}", ""],
  ["after a stream", call({ ...hello, stream: true }), "[DONE]", ""],
  ["after a refused call", call(refused), "model_not_found", ""],
  ["after a body that is no JSON", call("x").replace('"x"', "{{{"), "invalid_json", ""],
  ["after a refused call of another endpoint", elsewhere, "model_not_found", ""],
  ["with a second request whose headers never end, after a whole answer", call(hello), "}", halfHead],
  [
    "with a second request whose headers never end, after a stream",
    call({ ...hello, stream: true }),
    "[DONE]",
    halfHead,
  ],
])("a connection %s is closed when it is idle", async (_title, first, answered, then) => {
  const socket = openSocket(gateway.gateway.server.port);
  socket.write(first ?? "");
  await socket.until(answered ?? "");
  if (then) socket.write(then);
  expect(await socket.closed).toStartWith("HTTP/1.1 ");
});

test.concurrent("a call with a silent upstream is not idle", async () => {
  const answer = await gateway.chat(hello, { script: { latency_ms: 9_000 } });
  expect(answer.status).toBe(200);
});
