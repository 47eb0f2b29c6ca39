import { expect, test } from "bun:test";
import { countWords } from "./count-words.ts";
import { rowsOf } from "./rows.ts";

const rows = Array.from({ length: 50 }, (_, n) => n);
const more = () => undefined;

test("writes which of how many rows are shown", () => {
  expect(countWords(50, rowsOf(rows))).toBe("50 in total");
  expect(countWords(50, rowsOf(rows, { total: 12_340, more }))).toBe("1–50 of 12,340");
  expect(countWords(50, rowsOf(rows, { total: 100_000, moreThanTotal: true, more }))).toBe("1–50 of more than 100,000");
  expect(countWords(50, rowsOf(rows, { total: null, more }))).toBe("First 50; there are more");
});
