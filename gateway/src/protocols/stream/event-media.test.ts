import { expect, test } from "bun:test";
import fc from "fast-check";
import { eventWithoutMedia, setMediaAside } from "./event-media.ts";

const encoder = new TextEncoder();
const mark = (index: number): string => `mark-${index};`;
const picture = (length: number): string => "iVBORw0KGgo".padEnd(length, "AbC+/9");
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Puts media back in the place of marks. */
function whole(json: string): string {
  const aside = setMediaAside(encoder.encode(json), 2_000_000, mark);
  if (aside === null) throw new Error("too large");
  return textOf(aside.data).replace(/mark-(\d+);/g, (_, index) =>
    textOf(aside.media[Number(index)] ?? encoder.encode("")),
  );
}

test("restores the JSON from media and marks", () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: "grapheme" }),
      fc.integer({ min: 16_000, max: 40_000 }).map(picture),
      fc.integer({ min: 16_000, max: 40_000 }).map((length) => `data:image/png;base64,${picture(length)}`),
      fc.integer({ min: 16_000, max: 40_000 }).map((length) => `${picture(length)}"\\`),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("data", "result", "url", "text", 'da"ta'), tie("any"), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1), (event, indent) => {
      const json = JSON.stringify(event, null, indent);
      expect(whole(json)).toBe(json);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ["data", picture(20_000), true],
  ["result", picture(20_000), true],
  ["url", `data:image/png;base64,${picture(20_000)}`, true],
  ["url", `data:image/svg+xml,${picture(20_000)}`, false],
  ["url", `https://example.com/${picture(20_000)}`, false],
  ["text", picture(20_000), false],
  ["data", `${picture(20_000)}\n`, false],
  ["data", `${picture(20_000)}é`, false],
  ["data", picture(1_000), false],
])("removes a long string of %s only if it is the same in every JSON", (name, value, isMedia) => {
  const aside = setMediaAside(encoder.encode(JSON.stringify({ before: "x", [name]: value })), 2_000_000, mark);
  expect(aside?.media.length).toBe(isMedia ? 1 : 0);
});

test("stops reading an event with too much JSON", () => {
  for (const json of [{ text: "x".repeat(3_000_000) }, { list: Array.from({ length: 400_000 }, () => "x") }]) {
    expect(setMediaAside(encoder.encode(JSON.stringify(json)), 1_000_000, mark)).toBeNull();
  }
});

test("keeps name and JSON of a large event without its media", () => {
  const event = encoder.encode(`: comment\r\nevent: e\r\ndata: {"data":"${picture(100_000)}",\r\ndata: "n":1}\r\n\r\n`);
  const read = textOf(eventWithoutMedia(event, 0, event.length) ?? encoder.encode(""));
  expect(read).toStartWith('event: e\ndata: {"data":"iVBOR');
  expect(read).toEndWith('","n":1}\n\n'.replace(',"n"', ',\n"n"'));
  expect(read.length).toBeLessThan(400);
});
