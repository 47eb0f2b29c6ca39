import { expect, test } from "bun:test";
import fc from "fast-check";
import { closingQuote, skipSpace, skipSpaceBack, stringEnd, valueEnd } from "./cursor.ts";

const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 3 });
const text = fc.string({ unit: fc.constantFrom("\\", '"', "a", "ü", "\n"), maxLength: 120 });

test("finds the end of a value and of a string with escaped quotes", () => {
  const value = fc.oneof(text, fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(value, space, fc.constantFrom(",", "]", "}", " "), (value, before, next) => {
      const json = JSON.stringify(value);
      const bytes = Buffer.from(`${before}${json}${next}`);
      const start = skipSpace(bytes, 0);
      const end = bytes.length - 1;
      expect(start).toBe(before.length);
      expect(skipSpaceBack(bytes, start - 1)).toBe(-1);
      expect(valueEnd(bytes, start)).toBe(end);
      if (typeof value !== "string") return;
      expect(stringEnd(bytes, start)).toBe(end);
      expect(closingQuote(bytes, start + 1)).toBe(end - 1);
    }),
  );
});

test("returns an index beyond the end for unfinished values", () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.array(text), fc.dictionary(text, text)), fc.nat(), (value, cut) => {
      const bytes = Buffer.from(`${JSON.stringify(value)} `);
      const end = cut % (bytes.length - 1);
      expect(valueEnd(bytes, 0, end)).toBe(end + 1);
    }),
  );
});

test("skips only JSON white space", () => {
  expect(skipSpace(Buffer.from(" \t\r\n\u000b{"), 0)).toBe(4);
  expect(valueEnd(Buffer.from(",1"), 0)).toBe(3);
});
