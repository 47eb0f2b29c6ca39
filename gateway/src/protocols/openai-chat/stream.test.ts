import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, Failure } from "#core/index.ts";
import { ChatStreamTap } from "./stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

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
  const bytes = encoder.encode(text);
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((one, other) => one - other);
  const out: Uint8Array[] = [];
  let from = 0;
  for (const to of [...places, bytes.length]) {
    out.push(tap.push(bytes.slice(from, to)).slice());
    from = to;
  }
  return { tap, out: decoder.decode(Buffer.concat(out)) };
}

describe("a chat stream on its way through", () => {
  test("passes every byte unchanged when the caller asked for usage", () => {
    const { tap, out } = listen(whole, false);
    expect(out).toBe(whole);
    expect(tap.usage?.usage).toMatchObject({ inputUncached: 9, output: 3 });
    expect(tap.ended).toBe(true);
  });

  test("keeps only the usage chunk that the gateway asked for to itself", () => {
    expect(listen(whole, true).out).toBe(withoutUsage);
  });

  test("however the bytes are cut, the caller gets the same bytes and the gateway reads the same facts", () => {
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

  test("only whole events are passed on: a cut inside one never reaches the caller", () => {
    const first = chunk({ content: "one" });
    const { out } = listen(first + chunk({ content: "two" }).slice(0, -3), true);
    expect(out).toBe(first);
  });

  test("usage that rides on a chunk with choices is read and the chunk is passed", () => {
    const text = chunk({ content: "x" }, { usage }) + done;
    const { tap, out } = listen(text, true);
    expect(out).toBe(text);
    expect(tap.usage?.usage.output).toBe(3);
  });

  test("a reported zero is a value, and no report is no value", () => {
    expect(listen(usageChunk({ prompt_tokens: 0, completion_tokens: 0 }) + done, true).tap.usage?.usage.output).toBe(0);
    expect(listen(finish + done, true).tap.usage).toBeNull();
  });

  test("output is guessed at one token for each short piece of content", () => {
    const { tap } = listen([..."abcde"].map((word) => chunk({ content: word })).join(""), true);
    expect(tap.outputEstimate).toBe(5);
  });
});

describe("a chat stream that goes wrong", () => {
  test("ending without [DONE] and without a finish reason is not complete", () => {
    expect(listen(chunk({ content: "x" }), true).tap.complete()).toBe(false);
  });

  test("ending after a finish reason but without [DONE] is complete: some vendors send none", () => {
    expect(listen(chunk({ content: "x" }) + finish, true).tap.complete()).toBe(true);
  });

  test("an error event is noticed and passed on", () => {
    const error = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n';
    const { tap, out } = listen(chunk({ content: "x" }) + error, true);
    expect(out.endsWith(error)).toBe(true);
    expect(tap.failure?.message).toContain("overloaded");
  });

  test("a first event that is not JSON fails while another deployment can still be tried", () => {
    expect(() => listen("data: {broken\n\n", true)).toThrow(Failure);
  });

  test("an event that never ends is refused at the bound, however small its pieces", () => {
    const tap = new ChatStreamTap(true);
    const piece = encoder.encode("x".repeat(60_000));
    tap.push(encoder.encode("data: "));
    expect(() => {
      for (let sent = 0; sent <= bounds.eventBytesMax; sent += piece.length) tap.push(piece);
    }).toThrow("more than");
  });
});
