import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { bounds } from "#core/index.ts";
import { type RawUpstream, rawChunk, startRawUpstream } from "../raw-upstream.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { type CallerCase, callerCases, modelOn, settle } from "./dialect-fixture.ts";

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const chatEvent = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
const geminiEvent = 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]}}]}\n\n';

let gateway: StartedGateway | null = null;
let raw: RawUpstream | null = null;
afterEach(async () => {
  await gateway?.stop();
  raw?.stop();
});

async function behind(kind: "openai-compatible" | "gemini", answer: (socket: Socket) => void) {
  const upstream = await startRawUpstream(answer);
  raw = upstream;
  const base = kind === "gemini" ? "/v1beta" : "/v1";
  const endpoints = kind === "gemini" ? ["generate"] : ["chat"];
  gateway = await startGateway({
    providers: () => [
      {
        id: "raw",
        kind,
        base_url: upstream.url + base,
        api_key: "k",
        allow_private_network: true,
        settings: { endpoints },
      },
    ],
    models: [modelOn([{ id: "raw", dialect: "openai-chat", upstreamModel: "um", provider: () => never() }], "m")],
  });
  return { gateway, upstream };
}

/** Sends the first event at once, and the rest when the caller has an answer to read. */
async function behindFirst(kind: "openai-compatible" | "gemini", event: string) {
  let send: (text: string) => void = never;
  const behindIt = await behind(kind, (socket) => {
    socket.write(head + rawChunk(event));
    send = (text) => void socket.write(text);
  });
  return { ...behindIt, send: (text: string) => send(text) };
}

function never(): never {
  throw new Error("no connection was opened");
}

const titled = callerCases.map((caller): [string, CallerCase] => [caller.id, caller]);
describe("an upstream's stream is closed at once if its answer cannot be passed on, for a caller of", () => {
  test.each(titled)("%s: a first event that is no JSON", async (_id, caller) => {
    const { gateway, upstream } = await behind("openai-compatible", (socket) =>
      socket.write(head + rawChunk("data: nope\n\n")),
    );
    const response = await caller.call(gateway, "m", { stream: true });
    expect(response.status).toBe(502);
    // This upstream's timeouts are longer than a test may last.
    await upstream.closed(0);
  });

  test.each(titled)("%s: an event without an end", async (_id, caller) => {
    const { gateway, upstream, send } = await behindFirst("openai-compatible", chatEvent);
    const response = await caller.call(gateway, "m", { stream: true });
    const piece = rawChunk(`data: ${"x".repeat(4_000_000)}`);
    for (let sent = 0; sent <= bounds.imageEventBytesMax; sent += piece.length) send(piece);
    expect(caller.errorEvent.test(await response.text())).toBe(true);
    // This upstream's timeouts are longer than a test may last.
    await upstream.closed(0);
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", usageSource: "estimated" });
  });

  test.each(titled.filter(([id]) => id !== "chat"))("%s: an event that cannot be translated", async (_id, caller) => {
    const { gateway, upstream, send } = await behindFirst("openai-compatible", chatEvent);
    const response = await caller.call(gateway, "m", { stream: true });
    send(rawChunk("data: {broken\n\n"));
    expect(caller.errorEvent.test(await response.text())).toBe(true);
    // This upstream's timeouts are longer than a test may last.
    await upstream.closed(0);
  });
});

test.each(titled)("an error outside any event, as Gemini sends it, reaches a caller of %s", async (_id, caller) => {
  const { gateway, send } = await behindFirst("gemini", geminiEvent);
  const response = await caller.call(gateway, "m", { stream: true });
  const error = '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}';
  send(`${rawChunk(error)}0\r\n\r\n`);
  const text = await response.text();
  expect([caller.goodEnd.test(text), caller.errorEvent.test(text)]).toEqual([false, true]);
  expect(text).toContain("The model is overloaded.");
  await settle(gateway);
  expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
});
