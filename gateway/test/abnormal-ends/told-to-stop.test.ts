import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { type RawUpstream, rawChunk, startRawUpstream } from "../raw-upstream.ts";
import { type StartedHouse, startHouse } from "../started-house.ts";
import { type CallerCase, callerCases, calm, modelOn } from "./dialect-ground.ts";

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const chatEvent = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
const geminiEvent = 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]}}]}\n\n';

let house: StartedHouse | null = null;
let raw: RawUpstream | null = null;
afterEach(async () => {
  await house?.stop();
  raw?.stop();
});

async function behind(kind: "openai-compatible" | "gemini", answer: (socket: Socket) => void) {
  const upstream = await startRawUpstream(answer);
  raw = upstream;
  const base = kind === "gemini" ? "/v1beta" : "/v1";
  const endpoints = kind === "gemini" ? ["generate"] : ["chat"];
  house = await startHouse({
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
  return { house, upstream };
}

function never(): never {
  throw new Error("the provider is made above");
}

const titled = callerCases.map((caller): [string, CallerCase] => [caller.id, caller]);
describe("an upstream whose answer cannot be passed on is told to stop at once, for a caller of", () => {
  test.each(titled)("%s: a first event that is no JSON", async (_id, caller) => {
    const { house, upstream } = await behind("openai-compatible", (socket) =>
      socket.write(head + rawChunk("data: nope\n\n")),
    );
    const response = await caller.call(house, "m", { stream: true });
    expect(response.status).toBe(502);
    // The time-outs of this upstream are longer than a test may last.
    await upstream.closed(0);
  });

  test.each(titled)("%s: an event without an end", async (_id, caller) => {
    const { house, upstream } = await behind("openai-compatible", (socket) => {
      socket.write(head + rawChunk(chatEvent));
      setTimeout(() => {
        for (let piece = 0; piece < 20; piece++) socket.write(rawChunk(`data: ${"x".repeat(100_000)}`));
      }, 20);
    });
    const response = await caller.call(house, "m", { stream: true });
    expect(caller.errorEvent.test(await response.text())).toBe(true);
    // The time-outs of this upstream are longer than a test may last.
    await upstream.closed(0);
    expect((await house.entries())[0]).toMatchObject({ outcome: "failed", usageSource: "estimated" });
  });

  test.each(titled.filter(([id]) => id !== "chat"))("%s: an event that cannot be translated", async (_id, caller) => {
    const { house, upstream } = await behind("openai-compatible", (socket) => {
      socket.write(head + rawChunk(chatEvent));
      setTimeout(() => socket.write(rawChunk("data: {broken\n\n")), 20);
    });
    const response = await caller.call(house, "m", { stream: true });
    expect(caller.errorEvent.test(await response.text())).toBe(true);
    // The time-outs of this upstream are longer than a test may last.
    await upstream.closed(0);
  });
});

test.each(titled)(
  "an error that stands outside of any event, as Gemini sends it, reaches a caller of %s",
  async (_id, caller) => {
    const { house } = await behind("gemini", (socket) => {
      socket.write(head + rawChunk(geminiEvent));
      const error = '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}';
      setTimeout(() => socket.write(`${rawChunk(error)}0\r\n\r\n`), 20);
    });
    const text = await (await caller.call(house, "m", { stream: true })).text();
    expect([caller.goodEnd.test(text), caller.errorEvent.test(text)]).toEqual([false, true]);
    expect(text).toContain("The model is overloaded.");
    await calm(house);
    expect((await house.entries())[0]).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
  },
);
