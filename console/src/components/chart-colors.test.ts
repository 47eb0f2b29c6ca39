import { expect, test } from "bun:test";
import { chartColors } from "./chart-colors.ts";

test("gives a series the same color in any order, and no two series the same one", () => {
  const ids = [
    "gpt-5",
    "claude-opus-4",
    "gemini-2.5-pro",
    "deepseek-r1",
    "qwen3",
    "llama-4",
    "o3",
    "grok-4",
    "mistral",
  ];
  const series = ids.map((id) => ({ id }));
  const colors = chartColors(series);
  expect(new Set(colors).size).toBe(ids.length);
  expect(chartColors(series.toReversed()).toReversed()).toEqual([...colors]);
});

test("draws the rest in gray", () => {
  expect(chartColors([{ id: "a" }, { id: "", quiet: true }])[1]).toBe("gray.5");
});
