import { expect, test } from "bun:test";
import { vendorOfKind, vendorOfModel } from "./vendor-of.ts";

test.each([
  ["gpt-5-mini", "openai"],
  ["o3", "openai"],
  ["openai/gpt-oss-120b", "openai"],
  ["claude-sonnet-5", "claude"],
  ["anthropic.claude-3-5-sonnet-20241022-v2:0", "claude"],
  ["gemini-3-pro", "gemini"],
  ["qwen/qwen3-coder", "qwen"],
  ["qwen3-max", "qwen"],
  ["meta-llama/Llama-4-Maverick", "meta"],
  ["mixtral-8x7b", "mistral"],
  ["glm-4.6", "zhipu"],
  ["kimi-k2", "kimi"],
  ["doubao-seedance-1-0-pro", "doubao"],
  ["house-small", null],
  ["wander", null],
  ["metaphor", null],
] as const)("a model %s has the logo of %s", (name, vendor) => {
  expect(vendorOfModel(name)).toBe(vendor);
});

test("an invented name takes the logo of the owner or the upstream model", () => {
  expect(vendorOfModel("house-small", "openai", "gpt-5-mini")).toBe("openai");
  expect(vendorOfModel("fast", undefined, "deepseek-v4")).toBe("deepseek");
  expect(vendorOfModel("fast", "openai-compatible")).toBeNull();
});

test("a provider type without a vendor has no logo", () => {
  expect([vendorOfKind("openai-compatible"), vendorOfKind("demo"), vendorOfKind("bedrock")]).toEqual([
    null,
    null,
    "aws",
  ]);
});
