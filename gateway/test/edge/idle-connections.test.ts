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

const unknownModel = { ...hello, model: "no-such-model" };
const unknownModelResponses = call({ model: "no-such-model", input: "hello" }).replace(
  "/chat/completions",
  "/responses",
);
const halfHead = "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthoriz";

test.concurrent.each([
  ["after a complete answer", call(hello), "}", ""],
  ["after a stream", call({ ...hello, stream: true }), "[DONE]", ""],
  ["after a refused call", call(unknownModel), "model_not_found", ""],
  ["after a body that is not JSON", call("x").replace('"x"', "{{{"), "invalid_json", ""],
  ["after a refused call of another endpoint", unknownModelResponses, "model_not_found", ""],
  ["with a second request and incomplete headers, after a complete answer", call(hello), "}", halfHead],
  [
    "with a second request and incomplete headers, after a stream",
    call({ ...hello, stream: true }),
    "[DONE]",
    halfHead,
  ],
])("closes an idle connection %s", async (_title, first, received, secondRequest) => {
  const socket = openSocket(gateway.gateway.server.port);
  socket.write(first ?? "");
  await socket.until(received ?? "");
  if (secondRequest) socket.write(secondRequest);
  expect(await socket.closed).toStartWith("HTTP/1.1 ");
});

test.concurrent("does not close a connection while its upstream is silent", async () => {
  const answer = await gateway.chat(hello, { script: { latency_ms: 9_000 } });
  expect(answer.status).toBe(200);
});
