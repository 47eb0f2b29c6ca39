import { expect, test } from "bun:test";
import { readChoice } from "./column-choice.ts";

test("a stored choice of columns is read back, and other stored values are ignored", () => {
  expect(readChoice('{"cost":false,"tokens":true}')).toEqual({ cost: false, tokens: true });
  expect(readChoice('{"cost":"no","tokens":true}')).toEqual({ tokens: true });
  for (const text of [null, "", "null", "7", "{", "[]"]) expect(readChoice(text)).toEqual({});
});
