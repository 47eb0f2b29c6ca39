import { expect, test } from "bun:test";
import fc from "fast-check";
import { readRange } from "./blob-links.ts";

test("parses ranges like RFC 9110", () => {
  expect(readRange("bytes=0-0", 10)).toEqual({ start: 0, end: 1 });
  expect(readRange("bytes=2-5", 10)).toEqual({ start: 2, end: 6 });
  expect(readRange("Bytes=2-99", 10)).toEqual({ start: 2, end: 10 });
  expect(readRange("bytes=4-", 10)).toEqual({ start: 4, end: 10 });
  expect(readRange("bytes=-3", 10)).toEqual({ start: 7, end: 10 });
  expect(readRange("bytes=-30", 10)).toEqual({ start: 0, end: 10 });
});

test("refuses a range beyond the end and ignores an invalid one", () => {
  for (const header of ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=999999999999999-"]) {
    expect(readRange(header, 10)).toBe("unsatisfiable");
  }
  expect(readRange("bytes=-5", 0)).toBe("unsatisfiable");
  for (const header of [null, "", "bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,4-5", "items=0-1", "bytes=a-b", "0-1"]) {
    expect(readRange(header, 10)).toBeNull();
  }
});

test("always returns a range inside the file", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (text, size) => {
      const range = readRange(`bytes=${text}`, size);
      if (range === null || range === "unsatisfiable") return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeGreaterThan(range.start);
      expect(range.end).toBeLessThanOrEqual(size);
    }),
  );
});
