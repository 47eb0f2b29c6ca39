import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds } from "#core/index.ts";
import { leastCpuMs } from "../../../test/processor-time.ts";
import { BodyExcerpt, excerptOf } from "./body-excerpt.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const excerpt = (...pieces: string[]) => {
  const taken = new BodyExcerpt();
  for (const piece of pieces) taken.push(bytes(piece));
  return taken.end();
};

describe("the excerpt of a body", () => {
  test("is the unchanged text", () => {
    const text = JSON.stringify(
      { model: "gpt-test", messages: [{ role: "user", content: "Grüße, 世界 🙂" }] },
      null,
      2,
    );
    expect(excerpt(text)).toEqual({ text, bytes: bytes(text).length, truncated: false });
  });

  test("ends at its bound without a cut character, and counts all bytes", () => {
    const text = "ü ".repeat(100_000);
    const kept = excerpt(text);
    expect(kept).toMatchObject({ bytes: 300_000, truncated: true });
    expect(text.startsWith(kept.text)).toBe(true);
    expect(bounds.captureBodyBytesMax - bytes(kept.text).length).toBeLessThan(2);
  });

  test("is complete at exactly the bound", () => {
    const text = "a ".repeat(bounds.captureBodyBytesMax / 2);
    expect(excerpt(text)).toEqual({ text, bytes: bounds.captureBodyBytesMax, truncated: false });
    expect(excerpt(text, "!")).toMatchObject({ truncated: true, text });
  });

  test("omits long base64, so that the text after it fits", () => {
    const picture = Buffer.alloc(2_000_000, 77).toString("base64");
    const body = `{"image_url":"data:image/png;base64,${picture}","prompt":"a cat"}`;
    const kept = excerpt(body);
    expect(kept.truncated).toBe(false);
    expect(kept.bytes).toBe(body.length);
    expect(kept.text).toMatch(
      /^\{"image_url":"data:image\/png;base64,.{20,40}…\[\d+ more characters of base64\]","prompt":"a cat"\}$/,
    );
  });

  test("omits base64 with escaped slashes, and base64 without an end", () => {
    const escaped = Buffer.alloc(9_000, 0xff).toString("base64").replaceAll("/", "\\/");
    expect(excerpt(`{"data":"${escaped}"}`).text).toMatch(/more characters of base64\]"\}$/);
    expect(excerpt(`{"data":"${escaped}`).text).toMatch(/more characters of base64\]$/);
  });

  test("keeps text and base64 up to 1 KiB", () => {
    const short = "A".repeat(bounds.captureBase64CharactersMax);
    const text = `{"data":"${short}","text":"${"many words ".repeat(200)}"}`;
    expect(excerpt(text).text).toBe(text);
  });

  test("is the same for any pieces", () => {
    const part = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.integer({ min: 1, max: 5_000 }).map((length) => "Qk".repeat(length)),
      fc.constantFrom('"', "\n", '","', "é"),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 3_000 })), (parts, cuts) => {
        const whole = bytes(parts.join(""));
        const taken = new BodyExcerpt();
        let at = 0;
        for (const cut of cuts) {
          taken.push(whole.subarray(at, at + cut));
          at += cut;
        }
        taken.push(whole.subarray(at));
        expect(taken.end()).toEqual(excerptOf(whole, "application/json"));
      }),
    );
  });

  test("is a note of type and size if the body is not text", () => {
    expect(excerptOf(new Uint8Array(5_000), "image/png")).toEqual({
      text: "[image/png, 5000 bytes]",
      bytes: 5_000,
      truncated: false,
    });
    for (const type of ["application/json; charset=utf-8", "text/event-stream", "application/problem+json", null]) {
      expect(excerptOf(bytes("{}"), type).text).toBe("{}");
    }
  });

  test("costs no more for a large body than for one at the bound", () => {
    const large = bytes(`{"data":"${"A".repeat(20_000_000)}","x":"${"word ".repeat(20_000)}"}`);
    // A pass over every byte takes at least this long.
    const everyByteMs = leastCpuMs(() => large.reduce((sum, byte) => sum + byte, 0), 2);
    expect(leastCpuMs(() => void excerptOf(large, null))).toBeLessThan(everyByteMs / 2);
  });

  test.each([
    ["quotes", '"', '",'],
    ["line ends", "", "\n"],
  ])("costs no more when there is much base64 between %s before much else", (_between, begin, end) => {
    const some = `${begin}${"A".repeat(1_100)}${end}`.repeat(2_000);
    const large = bytes(some + " ".repeat(20_000_000));
    const everyByteMs = leastCpuMs(() => large.reduce((sum, byte) => sum + byte, 0), 2);
    expect(leastCpuMs(() => void excerptOf(large, null), 2)).toBeLessThan(everyByteMs / 2);
  });
});
