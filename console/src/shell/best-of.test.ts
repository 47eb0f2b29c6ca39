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

test("characters in order match a label, and other words find a command", () => {
  const verbs = [
    { label: "Create API key", detail: null, words: "new add token" },
    { label: "创建 API 密钥", detail: null, words: "新建 令牌 create key" },
    { label: "Audit log", detail: null },
  ];
  const labels = (text: string) => bestOf(verbs, text, 6).map(({ label }) => label);
  expect(labels("crkey")).toEqual(["Create API key"]);
  expect(labels("new token")).toEqual(["Create API key"]);
  expect(labels("新建")).toEqual(["创建 API 密钥"]);
  expect(labels("新建令牌")).toEqual(["创建 API 密钥"]);
  expect(labels("创建密钥")).toEqual(["创建 API 密钥"]);
  expect(labels("新建 api密钥")).toEqual(["创建 API 密钥"]);
  expect(labels("新建日志")).toEqual([]);
  expect(labels("create key").toSorted()).toEqual(["Create API key", "创建 API 密钥"]);
});
