import { expect, test } from "bun:test";
import { modelEndpoints } from "@sluice/contract";
import { modelsFor } from "./agent-models.ts";

const everywhere = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/{model}:generateContent"];
const model = (name: string, untranslated: readonly string[], endpoints = everywhere) => ({
  name,
  type: "chat" as const,
  endpoints,
  untranslated_endpoints: [...untranslated],
});

const models = [
  model("claude", ["/v1/messages"]),
  model("gemini", ["/v1beta/models/{model}:generateContent"]),
  model("gpt", ["/v1/chat/completions", "/v1/responses"]),
  model("llama", ["/v1/chat/completions"]),
  model("broken", [], []),
  { ...model("painter", []), type: "image" as const },
];

test("lists models with native support for an agent first, then well-translated ones, then all others", () => {
  expect(modelsFor("claude-code", models)).toEqual({ fit: ["claude", "gpt", "gemini"], others: ["llama", "broken"] });
  expect(modelsFor("codex", models)).toEqual({ fit: ["gpt", "llama"], others: ["claude", "gemini", "broken"] });
  expect(modelsFor(null, models)).toEqual({ fit: ["claude", "gemini", "gpt", "llama", "broken"], others: [] });
});

test("the paths match the endpoints in the model list", () => {
  const paths: readonly string[] = Object.values(modelEndpoints).map(({ path }) => path);
  for (const path of everywhere) expect(paths).toContain(path);
});
