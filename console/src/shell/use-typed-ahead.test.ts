import { expect, test } from "bun:test";
import { typedAfter } from "./use-typed-ahead.ts";

test("typed characters are kept in order, Backspace removes one, and other keys are ignored", () => {
  const keys = ["g", "p", "x", "Backspace", "t", "Shift", "Escape", "Tab", "é"];
  expect(keys.reduce((text, key) => typedAfter(text, key) ?? text, "")).toBe("gpté");
  expect([typedAfter("a", "Escape"), typedAfter("a", "ArrowDown"), typedAfter("", "Backspace")]).toEqual([
    null,
    null,
    "",
  ]);
});
