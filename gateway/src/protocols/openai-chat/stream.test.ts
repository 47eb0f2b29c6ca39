import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, Failure } from "#core/index.ts";
import { pushCut } from "../../../test/cut-stream.ts";
import { ChatStreamTap } from "./stream.ts";

const encoder = new TextEncoder();

const chunk = (delta: object, rest: object = {}): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }], usage: null, ...rest })}\n\n`;
const usageChunk = (usage: object): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [], usage })}\n\n`;
const finish = chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const done = "data: [DONE]\n\n";
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const whole = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Grüße " }),
  ": ping\n\n",
  chunk({ content: 'he said "usage":{ and [DONE]' }),
  chunk({ content: "\u{1F600}" }),
  finish,
  usageChunk(usage),
  done,
].join("");

const withoutUsage = whole.replace(usageChunk(usage), "");

function listen(text: string, hideUsage: boolean, cuts: readonly number[] = []): { tap: ChatStreamTap; out: string } {
  const tap = new ChatStreamTap(hideUsage);
  return { tap, out: pushCut(tap, text, cuts) };
}

describe("a chat stream", () => {
  test("passes every byte unchanged if the caller requested usage", () => {
    const { tap, out } = listen(whole, false);
    expect(out).toBe(whole);
    expect(tap.usage?.usage).toMatchObject({ inputUncached: 9, output: 3 });
    expect(tap.ended).toBe(true);
  });

  test("hides only the usage chunk that the gateway requested", () => {
    expect(listen(whole, true).out).toBe(withoutUsage);
  });

  test("passes the same bytes and reads the same facts for any chunking", () => {
    for (const text of [whole, whole.replaceAll("\n", "\r\n"), whole.replaceAll("\n\n", "\r\n\n")]) {
      const plain = listen(text, true);
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 40 }), (cuts) => {
          const { tap, out } = listen(text, true, cuts);
          expect(out).toBe(plain.out);
          expect([tap.events, tap.ended, tap.outputEstimate, tap.usage]).toEqual([
            plain.tap.events,
            plain.tap.ended,
            plain.tap.outputEstimate,
            plain.tap.usage,
          ]);
        }),
        { numRuns: 700 },
      );
    }
  });

  test("passes only whole events", () => {
    const first = chunk({ content: "one" });
    const { out } = listen(first + chunk({ content: "two" }).slice(0, -3), true);
    expect(out).toBe(first);
  });

  test("reads usage on a chunk with choices and passes it", () => {
    const text = chunk({ content: "x" }, { usage }) + done;
    const { tap, out } = listen(text, true);
    expect(out).toBe(text);
    expect(tap.usage?.usage.output).toBe(3);
  });

  test("treats a reported zero as a value", () => {
    expect(listen(usageChunk({ prompt_tokens: 0, completion_tokens: 0 }) + done, true).tap.usage?.usage.output).toBe(0);
    expect(listen(finish + done, true).tap.usage).toBeNull();
  });

  test("estimates one token per short delta", () => {
    const { tap } = listen([..."abcde"].map((word) => chunk({ content: word })).join(""), true);
    expect(tap.outputEstimate).toBe(5);
  });

  test("counts all generated content", () => {
    const long = "x".repeat(400);
    const call = (index: number): object => ({ index, function: { name: "f", arguments: long } });
    const generated: readonly (readonly [delta: object | string, tokens: number])[] = [
      [{ content: long }, 100],
      [{ content: "", reasoning_content: long }, 100],
      [{ content: "", reasoning: long, reasoning_details: [{ type: "reasoning.text", text: long }] }, 100],
      [{ content: null, refusal: long }, 100],
      [{ tool_calls: [call(0), call(1), call(2)] }, 300],
      [{ content: [{ type: "thinking", thinking: [{ type: "text", text: long }] }] }, 100],
      [`data: {"choices": [{"delta": {"role": "assistant", "content": "${long}"}, "finish_reason": null}]}\n\n`, 100],
      [{ content: `"${long}"\\` }, 102],
      [{ role: "assistant", content: "", refusal: null, tool_calls: [] }, 0],
    ];
    for (const [delta, tokens] of generated) {
      const { tap } = listen(typeof delta === "string" ? delta : chunk(delta), true);
      expect([delta, tap.outputEstimate, tap.contentSeen]).toEqual([delta, tokens, tokens > 0]);
    }
  });

  test("accepts comments, other fields and a byte order mark before the data", () => {
    for (const ahead of [": ping\n", ": one\r\n: two\r\n", "retry: 3000\n", "id: 7\n", "event: chunk\n", "\uFEFF"]) {
      const text = ahead + chunk({ content: "x" }) + ahead + usageChunk(usage) + ahead + done;
      const { tap, out } = listen(ahead === "\uFEFF" ? text.replaceAll(`\n${ahead}`, "\n") : text, true);
      expect([ahead, tap.events, tap.usage?.usage.output, tap.ended, tap.outputEstimate]).toEqual([
        ahead,
        3,
        3,
        true,
        1,
      ]);
      expect(out).not.toContain("prompt_tokens");
    }
  });

  test("ends at [DONE] in a named event, but not within text", () => {
    const named = "event: done\nid: 01JDXN8Q5W0000000000000000\ndata: [DONE]\n\n";
    expect(listen(chunk({ content: "x" }) + named, true).tap.ended).toBe(true);
    const { tap } = listen(`${chunk({ content: "x" })}data: {"choices":[{"text":"[DONE]"}]}\n\n`, true);
    expect([tap.ended, tap.complete()]).toEqual([false, false]);
  });

  test("reads usage within a choice", () => {
    const choice = { index: 0, delta: {}, finish_reason: "stop", usage };
    const { tap } = listen(chunk({ content: "x" }) + chunk({}, { choices: [choice] }) + done, true);
    expect(tap.usage?.usage).toMatchObject({ inputUncached: 9, output: 3 });
    expect(tap.usageFinal).toBe(true);
  });
});

describe("a broken chat stream", () => {
  test("is incomplete without [DONE] and finish reason", () => {
    expect(listen(chunk({ content: "x" }), true).tap.complete()).toBe(false);
  });

  test("is complete after a finish reason without [DONE]", () => {
    expect(listen(chunk({ content: "x" }) + finish, true).tap.complete()).toBe(true);
  });

  test("reports an error event and passes it on", () => {
    const error = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n';
    const { tap, out } = listen(chunk({ content: "x" }) + error, true);
    expect(out.endsWith(error)).toBe(true);
    expect(tap.failure?.message).toContain("overloaded");
  });

  test("continues after the end of one of several choices", () => {
    const choice = (index: number, delta: object, finish_reason: string | null = null): string =>
      chunk({}, { choices: [{ index, delta, finish_reason }] });
    const first = choice(0, { content: "a" }) + choice(1, { content: "b" }) + choice(0, {}, "stop");
    expect(listen(first + choice(1, { content: "c" }), true).tap.complete()).toBe(false);
    expect(listen(first + choice(1, { content: "c" }) + choice(1, {}, "length"), true).tap.complete()).toBe(true);
    const both = [0, 1].map((index) => ({ index, delta: {}, finish_reason: index === 0 ? null : "stop" }));
    expect(listen(first + chunk({}, { choices: both }), true).tap.complete()).toBe(true);
  });

  test("reports an error in a chunk with choices and passes it on", () => {
    const error = { code: 502, message: "Provider disconnected" };
    const last = chunk({}, { error, choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }] });
    const { tap, out } = listen(chunk({ content: "x" }) + last, true);
    expect(out.endsWith(last)).toBe(true);
    expect(tap.failure?.message).toContain("Provider disconnected");
    expect(tap.errorUnreadable).toBe(false);
  });

  test("marks a bare error event as unreadable for clients", () => {
    const error = 'data: {"object":"error","message":"out of memory","type":"InternalServerError","code":500}\n\n';
    const { tap, out } = listen(chunk({ content: "x" }) + error + done, true);
    expect(out).toBe(chunk({ content: "x" }));
    expect(tap.failure?.message).toContain("out of memory");
    expect(tap.errorUnreadable).toBe(true);
  });

  test("fails on a first event that is not JSON, so that another deployment is tried", () => {
    expect(() => listen("data: {broken\n\n", true)).toThrow(Failure);
  });

  test("fails on an event beyond the bound, even in small pieces", () => {
    const tap = new ChatStreamTap(true);
    const piece = encoder.encode("x".repeat(600_000));
    tap.push(encoder.encode("data: "));
    expect(() => {
      for (let sent = 0; sent <= bounds.imageEventBytesMax; sent += piece.length) tap.push(piece);
    }).toThrow("more than");
  });
});
