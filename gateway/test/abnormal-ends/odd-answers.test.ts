import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { bounds } from "#core/index.ts";
import { type RawUpstream, rawChunk, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { settle } from "./dialect-fixture.ts";

let gateway: StartedGateway | null = null;
let raw: RawUpstream | null = null;
afterEach(async () => {
  await gateway?.stop();
  raw?.stop();
});

const granted = { pass_through: ["main"] };

async function behind(
  answer: (socket: Socket) => void,
  kind: "openai-compatible" | "openai" | "anthropic" = "openai-compatible",
): Promise<StartedGateway> {
  const started = await startRawUpstream(answer);
  raw = started;
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { kind, base_url: `${started.url}/v1` })],
    models: [
      {
        name: "gpt-test",
        deployments: [{ provider: "main", upstream_model: "upstream-gpt" }],
        price: { input: 1000, output: 1000 },
      },
    ],
    workspace: {
      ...granted,
      groups: [{ name: "default", ...granted }],
      keys: [{ name: "alice", secret: aliceKey, ...granted }],
    },
  });
  return gateway;
}

const answered = (status: number, head: string, body: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Answered\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ]);
const json = "content-type: application/json\r\n";
const quoting = JSON.stringify({ detail: [{ type: "bad", input: "x".repeat(bounds.errorBodyBytesMax) }] });
const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const chatEnd = `${chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`;

/** The call costs nothing, and no deployment is penalized. */
async function expectFree(of: StartedGateway): Promise<void> {
  await settle(of);
  const entries = await of.entries();
  expect(entries[0]).toMatchObject({ outcome: "failed", usageSource: "none", costNanoUsd: 0 });
}

test("passes on an error that quotes the whole request; it costs nothing and disables no deployment", async () => {
  const started = await behind((socket) => void socket.write(answered(422, json, quoting)));
  for (let call = 0; call < 6; call++) {
    expect(await errorOf(await started.chat(hello))).toMatchObject({ status: 422 });
  }
  await expectFree(started);
  expect(raw?.requests.length).toBe(6);
});

test("recognizes a truncated error by its status", async () => {
  const started = await behind((socket) => {
    socket.write(`HTTP/1.1 400 Bad\r\n${json}content-length: 500\r\n\r\n{"error":`);
    socket.destroySoon();
  });
  expect(await errorOf(await started.chat(hello))).toMatchObject({ status: 400 });
  await expectFree(started);
});

test("pass-through keeps the status of an oversized error, and replaces its text", async () => {
  const started = await behind((socket) => void socket.write(answered(422, json, quoting)));
  const answer = await started.post("/v1/providers/main/v1/files", {});
  expect(await errorOf(answer)).toMatchObject({ status: 422 });
  await expectFree(started);
});

test("recognizes a stream in any spelling of its content type", async () => {
  const started = await behind((socket) => {
    socket.write(
      answered(200, "Content-Type: Text/Event-Stream; charset=UTF-8\r\n", chunk({ content: "hi" }) + chatEnd),
    );
  });
  const answer = await started.chat({ ...hello, stream: true });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect([text.includes('"content":"hi"'), text.endsWith("data: [DONE]\n\n")]).toEqual([true, true]);
  expect((await started.entries())[0]).toMatchObject({ outcome: "succeeded" });
});

test("names the encoding of an answer that the upstream compressed unasked", async () => {
  const started = await behind((socket) => {
    const packed = Buffer.from(Bun.gzipSync(Buffer.from(chunk({ content: "hi" }) + chatEnd)));
    socket.write(answered(200, "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n", packed));
  });
  const error = await errorOf(await started.chat({ ...hello, stream: true }));
  expect([error.status, error.message]).toEqual([502, expect.stringContaining("content encoding")]);
});

test("does not treat a charset in Content-Encoding as compression", async () => {
  const started = await behind((socket) => {
    const text = chunk({ content: "hi" }) + chatEnd;
    socket.write(answered(200, "content-type: text/event-stream\r\ncontent-encoding: UTF-8\r\n", text));
  });
  expect(await (await started.chat({ ...hello, stream: true })).text()).toEndWith("data: [DONE]\n\n");
});

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const pictureBytes = 4 * 1024 * 1024;
const picture = (): string => `data:image/png;base64,${"A".repeat(pictureBytes)}`;

test("passes on a picture of several megabytes in one chat event, also as the first event", async () => {
  const event = chunk({ content: "", images: [{ type: "image_url", image_url: { url: picture() } }] });
  const usage = chunk({}, { choices: [], usage: { prompt_tokens: 7, completion_tokens: 1290, total_tokens: 1297 } });
  const started = await behind((socket) => void socket.write(head + rawChunk(event + usage + chatEnd) + rawChunk("")));
  const text = await (await started.chat({ ...hello, stream: true })).text();
  expect(text.startsWith(event)).toBe(true);
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  const [entry] = await started.entries();
  expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "upstream", usage: { output: 1290 } });
  expect(started.gateway.outstanding()).toBe(0);
});

test("passes on a document that Anthropic fetched, in one event", async () => {
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  };
  const source = { type: "base64", media_type: "application/pdf", data: "A".repeat(pictureBytes) };
  const fetched = {
    type: "web_fetch_tool_result",
    tool_use_id: "srvtoolu_1",
    content: { type: "web_fetch_result", content: { type: "document", source } },
  };
  const events = [
    event("message_start", { message }),
    event("content_block_start", { index: 0, content_block: fetched }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }),
    event("message_stop", {}),
  ].join("");
  const started = await behind((socket) => void socket.write(head + rawChunk(events) + rawChunk("")), "anthropic");
  const body = { model: "gpt-test", max_tokens: 20, stream: true, messages: hello.messages };
  const answer = await started.post("/v1/messages", body, { headers: { "anthropic-version": "2023-06-01" } });
  expect(await answer.text()).toBe(events);
  expect((await started.entries())[0]).toMatchObject({ outcome: "succeeded", usageSource: "upstream" });
});
