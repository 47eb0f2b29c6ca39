import { expect, test } from "bun:test";
import { findByModelName, otherModel } from "./served.ts";

test.each([
  ["gpt-6", "gpt-6-2026-08-07"],
  ["gpt-6", "openai/gpt-6"],
  ["gpt-4", "gpt-4-0613"],
  ["claude-opus-5", "claude-opus-5-20260801"],
  ["claude-opus-5-latest", "claude-opus-5-20260801"],
  ["claude-opus-5@20260801", "claude-opus-5-20260801"],
  ["us.anthropic.claude-opus-5-20260801-v1:0", "claude-opus-5-20260801"],
  ["gemini-3-flash", "models/gemini-3-flash-001"],
  ["gemini-3-flash-preview", "gemini-3-flash-preview-09-2026"],
  ["doubao-seed-2", "doubao-seed-2-260615"],
  ["Meta/Llama-5", "llama-5"],
])("%s is the model that an answer names %s", (asked, named) => {
  expect(otherModel(named, asked)).toBeNull();
});

test.each([
  ["gpt-6", "gpt-6-mini"],
  ["gpt-6", "gpt-6-mini-2026-08-07"],
  ["gpt-6.1", "gpt-6"],
  ["openrouter/auto", "openai/gpt-6"],
  ["model-router", "gpt-6-2026-08-07"],
  ["claude-opus-5", "claude-opus-5-5"],
  ["gemini-3-flash", "gemini-3-pro"],
  ["gpt-6-chat-latest", "gpt-6-2026-08-07"],
])("%s is not the model that an answer names %s", (asked, named) => {
  expect(otherModel(named, asked)).toBe(named);
});

test("an answer without a model name counts as served by the requested model", () => {
  expect(otherModel(undefined, "gpt-6")).toBeNull();
});

test("finds a model by its exact name first, then without folder and date", () => {
  const known = new Map([
    ["gpt-6", 1],
    ["gpt-6-2026-08-07", 2],
    ["openai/gpt-6", 3],
  ]);
  expect(findByModelName(known, "gpt-6-2026-08-07")).toBe(2);
  expect(findByModelName(known, "gpt-6-2026-09-01")).toBe(1);
  expect(findByModelName(known, "models/gpt-6")).toBe(1);
  expect(findByModelName(known, "openai/gpt-6")).toBe(3);
  expect(findByModelName(known, "gpt-6-mini")).toBeUndefined();
});
