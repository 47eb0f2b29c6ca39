import { expect, test } from "bun:test";
import { numberOf } from "./number-of.ts";

test("each text on the way to a number with places comes to a number, and nothing comes to none", () => {
  expect(["0", "0.", "0.0", "0.05", "1.50", "05", 7].map(numberOf)).toEqual([0, 0, 0, 0.05, 1.5, 5, 7]);
  expect(["", " ", "-", ".", "-."].map(numberOf)).toEqual([null, null, null, null, null]);
});
