import { afterAll, describe, expect, test } from "bun:test";
import { ApiError, GoogleGenAI } from "@google/genai";
import { type AnswerEvent, Failure, noUsage, type Turn } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { gemini, geminiCodec } from "./index.ts";

const context: AnswerContext = {
  turn: {} as Turn,
  model: "public",
  account: "acc",
  createdAt: 0,
  wantsUsage: true,
  newId: (prefix) => `${prefix}1`,
  warn: () => undefined,
};
const usage = { ...noUsage, inputUncached: 3, output: 9, reasoning: 4 };
const call = { id: "c1", name: "f", argumentsText: '{"a":1}' };
const limited = new Failure("rate_limit_exceeded", "Slow down.");

const events: readonly AnswerEvent[] = [
  { kind: "start", id: "r1", model: "m" },
  { kind: "block-start", block: { kind: "reasoning", redacted: false } },
  { kind: "block-delta", text: "hm" },
  { kind: "block-end" },
  { kind: "block-start", block: { kind: "text" } },
  { kind: "block-delta", text: "Grüße, " },
  { kind: "block-delta", text: "\u{1f600}\n\ndata: x" },
  { kind: "block-end" },
  { kind: "block-start", block: { kind: "tool-call", id: "c1", name: "f" } },
  { kind: "block-delta", text: '{"a"' },
  { kind: "block-delta", text: ":1}" },
  { kind: "block-end" },
  { kind: "finish", finish: { reason: "tool-calls", stopSequence: null } },
  { kind: "usage", usage },
  { kind: "end" },
];

/** Answers by the model's name with what the codec writes. */
const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname.includes("limited")) {
      const headers = { "content-type": "application/json" };
      return new Response(gemini.renderError(limited, "req_1"), { status: limited.status, headers });
    }
    if (!pathname.includes("stream")) {
      const finish = { reason: "tool-calls", stopSequence: null } as const;
      const blocks = [{ kind: "text", text: "Hi." } as const, { kind: "tool-call", ...call, seal: null } as const];
      const body = geminiCodec.writeAnswer({ id: "r1", model: "m", blocks, finish, usage }, context);
      return new Response(body.slice(), { headers: { "content-type": "application/json" } });
    }
    const writer = geminiCodec.writeEvents(context);
    const cut = pathname.includes("broken");
    const written = (cut ? events.slice(0, 6) : events).map((event) => writer.write(event));
    const text =
      gemini.keepAlive + written.join(gemini.keepAlive) + (cut ? gemini.renderStreamError(limited, "r") : "");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  },
});
afterAll(() => server.stop(true));

const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: `http://127.0.0.1:${server.port}` } });

describe("Google's own SDK", () => {
  test("reads a whole answer", async () => {
    const response = await client.models.generateContent({ model: "any", contents: "hi" });
    expect(response.candidates?.[0]?.content?.parts?.[0]?.text).toBe("Hi.");
    expect(response.functionCalls).toEqual([{ id: "c1", name: "f", args: { a: 1 } }]);
    expect(response.candidates?.[0]?.finishReason as string).toBe("STOP");
    expect(response.usageMetadata).toMatchObject({
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      totalTokenCount: 12,
    });
    expect([response.modelVersion, response.responseId]).toEqual(["m", "r1"]);
  });

  test("reads a stream with keep-alive comments", async () => {
    let text = "";
    let thoughts = "";
    const calls: unknown[] = [];
    let last: unknown = null;
    for await (const chunk of await client.models.generateContentStream({ model: "any", contents: "hi" })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.thought === true) thoughts += part.text ?? "";
        else text += part.text ?? "";
      }
      calls.push(...(chunk.functionCalls ?? []));
      last = [chunk.candidates?.[0]?.finishReason, chunk.usageMetadata?.totalTokenCount];
    }
    expect([text, thoughts]).toEqual(["Grüße, \u{1f600}\n\ndata: x", "hm"]);
    expect(calls).toEqual([{ id: "c1", name: "f", args: { a: 1 } }]);
    expect(last).toEqual(["STOP", 12]);
  });

  test("throws the gateway's errors with their status, also within a stream", async () => {
    const statusOf = (thrown: unknown): unknown => (thrown instanceof ApiError ? thrown.status : thrown);
    const whole = await client.models.generateContent({ model: "limited", contents: "hi" }).catch(statusOf);
    expect(whole).toBe(429);
    const stream = await client.models.generateContentStream({ model: "broken", contents: "hi" });
    const drained = (async () => {
      for await (const chunk of stream) expect(chunk.candidates).toBeDefined();
    })();
    expect(await drained.catch(statusOf)).toBe(429);
  });
});
