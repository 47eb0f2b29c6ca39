import { expect, test } from "bun:test";
import { typedAfter } from "./use-typed-ahead.ts";

test("letters are kept in their order, Backspace takes one, other keys are left alone", () => {
  const keys = ["g", "p", "x", "Backspace", "t", "Shift", "Escape", "Tab", "é"];
  expect(keys.reduce((text, key) => typedAfter(text, key) ?? text, "")).toBe("gpté");
  expect([typedAfter("a", "Escape"), typedAfter("a", "ArrowDown"), typedAfter("", "Backspace")]).toEqual([
    null,
    null,
    "",
  ]);
});
