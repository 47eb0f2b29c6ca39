import { expect, test } from "bun:test";
import { stepsOf } from "./steps.ts";

test("states are listed in order with their durations", () => {
  const steps = stepsOf([
    { at: 5_000, status: "succeeded", detail: null, note: null },
    { at: 1_000, status: "accepted", detail: null, note: null },
    { at: 2_000, status: "a new word", detail: "x", note: null },
  ]);
  expect(steps.map(({ words, stayedMs }) => [words, stayedMs])).toEqual([
    ["Accepted, cost reserved", 1_000],
    ["a new word", 3_000],
    ["Succeeded", null],
  ]);
});
