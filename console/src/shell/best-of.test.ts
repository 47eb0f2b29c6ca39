import { expect, test } from "bun:test";
import { bestOf } from "./best-of.ts";

const commands = [
  "azure/gpt-5",
  "chatgpt-5-latest",
  "gpt-5",
  "gpt-5-mini",
  "openai/gpt-5-pro",
  "text-gpt-5",
  "Audit log",
];
const named = (labels: readonly string[]) => labels.map((label) => ({ label, detail: null }));
const found = (text: string, max = 6) => bestOf(named(commands), text, max).map(({ label }) => label);

test("exact matches come first, then prefixes, then other matches", () => {
  expect(found("gpt-5").slice(0, 2)).toEqual(["gpt-5", "gpt-5-mini"]);
  expect(found("gpt-5", 1)).toEqual(["gpt-5"]);
  expect(found("GPT-5", 1)).toEqual(["gpt-5"]);
  const many = named([...Array.from({ length: 999 }, (_, at) => `a-gpt-5-${at}`), "gpt-5"]);
  expect(bestOf(many, "gpt-5", 6)[0]?.label).toBe("gpt-5");
});

test("every word must match the name or its details, in any order", () => {
  expect(found("log audit")).toEqual(["Audit log"]);
  expect(found("gpt nothing")).toEqual([]);
  expect(bestOf([{ label: "Acme Robotics", detail: "acme" }], "acm", 3)).toHaveLength(1);
  expect(found("", 99)).toEqual(commands);
});
