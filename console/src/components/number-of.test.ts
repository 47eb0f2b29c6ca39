import { expect, test } from "bun:test";
import { numberOf } from "./number-of.ts";

test("parses every intermediate text of a decimal number, and returns null for an empty text", () => {
  expect(["0", "0.", "0.0", "0.05", "1.50", "05", 7].map(numberOf)).toEqual([0, 0, 0, 0.05, 1.5, 5, 7]);
  expect(["", " ", "-", ".", "-."].map(numberOf)).toEqual([null, null, null, null, null]);
});
