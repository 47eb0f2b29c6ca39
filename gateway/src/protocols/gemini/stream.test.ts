import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { pushCut } from "../../../test/cut-stream.ts";
import { GeminiStreamTap } from "./stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const chunk = (parts: readonly object[], rest: object = {}, candidate: object = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0, ...candidate }], ...rest, modelVersion: "gemini-x", responseId: "r1" })}\n\n`;
const used = (candidatesTokenCount: number): object => ({
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount, totalTokenCount: 9 + candidatesTokenCount },
});
const whole = [
  chunk([{ text: "Grüße " }], used(1)),
  ": keep-alive\n\n",
  chunk([{ text: 'he said "usageMetadata":{ and "finishReason":"STOP"' }], used(9)),
  chunk([{ text: "thinking", thought: true }], used(10)),
  chunk(
    [{ functionCall: { name: "f", args: { usageMetadata: { promptTokenCount: 1 }, finishReason: "STOP" } } }],
    used(20),
  ),
  chunk([{ text: "\u{1F600}" }], used(21)),
  chunk([{ text: "" }], used(22), { finishReason: "STOP" }),
].join("");

function listen(text: string, cuts: readonly number[] = []): { tap: GeminiStreamTap; out: string } {
  const tap = new GeminiStreamTap();
  return { tap, out: pushCut(tap, text, cuts) };
}

const facts = (tap: GeminiStreamTap): unknown => [
  tap.events,
  tap.complete(),
  tap.outputEstimate,
  tap.contentSeen,
  tap.usage,
  tap.usageFinal,
  tap.id,
  tap.failure,
];

describe("a Gemini stream", () => {
  test("passes every byte, uses the last usage, and is complete after a finish reason", () => {
    const { tap, out } = listen(whole);
    expect(out).toBe(whole);
    expect(tap.usage?.usage).toMatchObject({ inputUncached: 9, output: 22 });
    expect(tap.usage?.raw).toBe('{"promptTokenCount":9,"candidatesTokenCount":22,"totalTokenCount":31}');
    expect([tap.events, tap.ended, tap.complete(), tap.usageFinal, tap.id]).toEqual([6, false, true, true, "r1"]);
    expect(decoder.decode(tap.rest())).toBe("");
  });

  test("passes the same bytes and reads the same facts for any chunking", () => {
    const spaced = whole.replaceAll('":', '": ');
    for (const text of [whole, spaced, whole.replaceAll("\n", "\r\n"), whole.replaceAll("\n\n", "\r\n\n")]) {
      const plain = listen(text);
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 40 }), (cuts) => {
          const { tap, out } = listen(text, cuts);
          expect(out).toBe(text);
          expect(facts(tap)).toEqual(facts(plain.tap));
        }),
        { numRuns: 300 },
      );
      expect(plain.tap.usage?.usage.output).toBe(22);
    }
  });

  test("accepts comments, other fields and a byte order mark before the data", () => {
    const plain = listen(whole);
    for (const text of [whole.replaceAll("data: ", ": ping\r\ndata: "), `\uFEFF${whole}`]) {
      const { tap, out } = listen(text);
      expect(out).toBe(text);
      expect(facts(tap)).toEqual(facts(plain.tap));
    }
    for (const ahead of ["retry: 5\r\n", "event: chunk\n"]) {
      const { tap } = listen(whole.replaceAll("data: ", `${ahead}data: `));
      expect([ahead, tap.events, tap.complete(), tap.usage]).toEqual([ahead, 6, true, plain.tap.usage]);
    }
  });

  test("reports usage as final only after a finish reason", () => {
    const tap = new GeminiStreamTap();
    tap.push(encoder.encode(chunk([{ text: "a" }], used(1)) + chunk([{ text: "b" }], used(2))));
    expect([tap.usage?.usage.output, tap.usageFinal, tap.complete()]).toEqual([2, false, false]);
    tap.push(encoder.encode(chunk([{ text: "c" }])));
    expect(tap.usage?.usage.output).toBe(2);
    tap.push(encoder.encode(chunk([{ text: "d" }], used(4), { finishReason: "MAX_TOKENS" })));
    expect([tap.usage?.usage.output, tap.usageFinal, tap.complete()]).toEqual([4, true, true]);
  });

  test("accepts data on several lines", () => {
    const pretty = JSON.stringify({ candidates: [{ finishReason: "STOP" }], ...used(5) }, null, 1);
    const lines = pretty.replaceAll("\n", "\ndata: ");
    const { tap } = listen(`${chunk([{ text: "a" }])}data: ${lines}\n\n`);
    expect([tap.usage?.usage.output, tap.complete()]).toEqual([5, true]);
  });

  test("estimates one token per four bytes of text, and uses the vendor's count for pictures", () => {
    const parts = [{ text: "x".repeat(40) }, { text: 'a"\\\\"b'.repeat(10) }];
    const { tap } = listen(chunk(parts) + chunk(parts));
    expect(tap.contentSeen).toBe(true);
    expect(tap.outputEstimate).toBeGreaterThan(45);
    expect(tap.outputEstimate).toBeLessThan(90);
    const picture = chunk([{ inlineData: { mimeType: "image/png", data: "A".repeat(5_000) } }]);
    expect(listen(picture + picture).tap.outputEstimate).toBe(2_580);
  });

  test.each([
    ["first", []],
    ["behind words", [chunk([{ text: "here it is" }], used(3))]],
  ])("reads the same if a picture comes %s", (_, before) => {
    const end = chunk([{ text: "" }], used(1_293), { finishReason: "STOP" });
    const results = [5_000, 3_000_000].map((size) => {
      const picture = chunk([{ inlineData: { mimeType: "image/png", data: "A".repeat(size) } }], used(1_290));
      const { tap } = listen([...before, picture].join(""));
      const early = [tap.contentSeen, tap.usageFinal, tap.usage?.usage, tap.outputEstimate];
      tap.push(encoder.encode(end));
      return [...early, tap.complete(), tap.usageFinal, tap.usage?.usage, tap.failure];
    });
    expect(results[1]).toEqual(results[0]);
  });

  test("fails on a large first event that is not JSON", () => {
    const broken = `data: {"candidates":[{"content":{"parts":[{"inlineData":{"data":"${"A".repeat(100_000)}\n\n`;
    expect(() => listen(broken)).toThrow(Failure);
  });

  test("passes a picture of several megabytes for any chunking", () => {
    const text = chunk([{ inlineData: { mimeType: "image/png", data: "A".repeat(3_000_000) } }], used(1_290), {
      finishReason: "STOP",
    });
    const { tap, out } = listen(text, [10, 1_000_000, 2_999_000]);
    expect(out === text && tap.complete()).toBe(true);
    expect(tap.usage?.usage.output).toBe(1_290);
  });

  test("does not count an empty text as content", () => {
    expect(listen(chunk([{ text: "" }]) + chunk([{ text: "" }])).tap.contentSeen).toBe(false);
  });
});

describe("the end of a Gemini stream", () => {
  test("is incomplete without a finish reason", () => {
    expect(listen(chunk([{ text: "x" }], used(1))).tap.complete()).toBe(false);
    const unspecified = chunk([{ text: "x" }], {}, { finishReason: "FINISH_REASON_UNSPECIFIED" });
    expect(listen(unspecified + unspecified).tap.complete()).toBe(false);
    expect(listen(whole.slice(0, whole.lastIndexOf("data:"))).tap.complete()).toBe(false);
  });

  test("is complete for a blocked prompt without candidates", () => {
    const blocked = `data: ${JSON.stringify({ promptFeedback: { blockReason: "SAFETY" }, ...used(0) })}\n\n`;
    const { tap } = listen(blocked);
    expect([tap.complete(), tap.usageFinal, tap.contentSeen, tap.failure]).toEqual([true, true, false, null]);
  });

  test.each([
    ['data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}\n\n'],
    ['data: [{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]\n\n'],
    ['{\n"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}\n}\n'],
  ])("reports the error %j within the stream", (error) => {
    const { tap } = listen(chunk([{ text: "x" }]) + error);
    expect(tap.complete()).toBe(false);
    expect(tap.failure?.message).toContain("overloaded");
  });

  test("fails on a first event that is not JSON, so that another deployment is tried", () => {
    expect(() => listen("data: {broken\n\n")).toThrow(Failure);
  });
});

describe("a Gemini stream with several candidates", () => {
  const spoken = (index: number, text: string, more: object = {}): string =>
    chunk([{ text }], used(9), { index, ...more });

  test("is complete after the last candidate finished", () => {
    const first = [spoken(0, "one"), spoken(1, "two"), spoken(0, "", { finishReason: "STOP" }), spoken(1, " more")];
    expect(listen(first.join("")).tap.complete()).toBe(false);
    expect(listen([...first, spoken(1, "", { finishReason: "STOP" })].join("")).tap.complete()).toBe(true);
  });

  test("ignores chunks without text after the end", () => {
    expect(listen(spoken(0, "one", { finishReason: "STOP" }) + chunk([{ text: "" }], used(9))).tap.complete()).toBe(
      true,
    );
  });
});

test("counts partial call arguments as content", () => {
  const stringValue = "x".repeat(400);
  const piece = { name: "f", partialArgs: [{ jsonPath: "$.a", stringValue, willContinue: true }], willContinue: true };
  const { tap } = listen(chunk([{ text: "I call." }]) + chunk([{ functionCall: piece }]));
  expect(tap.contentSeen).toBe(true);
  expect(tap.outputEstimate).toBeGreaterThanOrEqual(100);
});
