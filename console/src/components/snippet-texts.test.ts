import { expect, test } from "bun:test";
import { shellQuoted, snippetsFor } from "./snippet-texts.ts";

const codeOf = (id: string, options: Parameters<typeof snippetsFor>[0]) =>
  snippetsFor(options)
    .find((snippet) => snippet.id === id)
    ?.parts.map((part) => part.code)
    .join("\n") ?? "";

test("without a key every snippet reads it from the environment", () => {
  for (const { id } of snippetsFor({ baseUrl: "http://localhost:8787/", apiKey: null, model: "gpt-5" })) {
    const code = codeOf(id, { baseUrl: "http://localhost:8787/", apiKey: null, model: "gpt-5" });
    expect(code, id).toContain("SLUICE_API_KEY");
    expect(code, id).toContain("http://localhost:8787");
    expect(code, id).not.toContain("8787//");
    expect(code, id).toContain("gpt-5");
  }
});

test("every snippet contains a newly created key", () => {
  for (const { id } of snippetsFor({ baseUrl: "https://ai.example.com", apiKey: "sk-sluice-x", model: "gpt-5" })) {
    expect(codeOf(id, { baseUrl: "https://ai.example.com", apiKey: "sk-sluice-x", model: "gpt-5" }), id).toContain(
      "sk-sluice-x",
    );
  }
});

test("shell snippets quote any model name correctly", async () => {
  const model = `it's "$HOME" \`id\` \\ a/b`;
  expect(await Bun.$`sh -c ${`printf %s ${shellQuoted(model)}`}`.text()).toBe(model);
  const code = codeOf("curl", { baseUrl: "http://h", apiKey: "k", model }).replace(/^curl/, "printf '%s\\n'");
  const words = (await Bun.$`sh -c ${code}`.text()).trimEnd().split("\n");
  expect(JSON.parse(words.at(-1) ?? "").model).toBe(model);
});

test("a chat model is called with the SDKs of both vendors, each with the right base URL", () => {
  const chat = { baseUrl: "http://h", apiKey: null, model: "m" };
  expect(codeOf("python", chat)).toContain('OpenAI(base_url="http://h/v1"');
  expect(codeOf("python", chat)).toContain('Anthropic(base_url="http://h", ');
  expect(codeOf("javascript", chat)).toContain('OpenAI({ baseURL: "http://h/v1"');
  expect(codeOf("javascript", chat)).toContain('Anthropic({ baseURL: "http://h", ');
  expect(codeOf("python", { ...chat, type: "embedding" })).not.toContain("nthropic");
});

test("an image or video model is called on its own endpoint, and has no snippets for coding agents", () => {
  const video = { baseUrl: "http://h", apiKey: null, model: "veo", type: "video" } as const;
  expect(codeOf("curl", video)).toContain("/v1/video/tasks");
  expect(snippetsFor(video).map((snippet) => snippet.id)).toEqual(["curl", "python", "javascript", "environment"]);
});
