import { expect, test } from "bun:test";
import { readChoice } from "./column-choice.ts";

test("a choice of columns is read back, and what a browser holds beside it is not taken for one", () => {
  expect(readChoice('{"cost":false,"tokens":true}')).toEqual({ cost: false, tokens: true });
  expect(readChoice('{"cost":"no","tokens":true}')).toEqual({ tokens: true });
  for (const text of [null, "", "null", "7", "{", "[]"]) expect(readChoice(text)).toEqual({});
});
