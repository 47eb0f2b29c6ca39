import { expect, test } from "bun:test";
import { modelEndpoints } from "@sluice/contract";
import { modelsFor, tiersFor } from "./agent-models.ts";

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

test("proposes the large, newest model of the agent's vendor, not the first of the alphabet", () => {
  const named = (names: readonly string[], path: string) => names.map((name) => model(name, [path]));
  const claude = named(
    ["claude-haiku-5", "claude-opus-5", "claude-sonnet-4-5", "claude-sonnet-5", "claude-sonnet-5-20260201", "a-model"],
    "/v1/messages",
  );
  const found = modelsFor("claude-code", claude);
  expect(found.fit.slice(0, 2)).toEqual(["claude-sonnet-5", "claude-sonnet-4-5"]);
  expect(tiersFor("claude-sonnet-5", found)).toEqual({
    opus: "claude-opus-5",
    sonnet: "claude-sonnet-5",
    haiku: "claude-haiku-5",
  });
  expect(tiersFor("kimi", modelsFor("claude-code", named(["kimi"], "/v1/messages")))).toEqual({
    opus: "kimi",
    sonnet: "kimi",
    haiku: "kimi",
  });
  const gpt = named(["acme-chat", "gpt-4o", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-oss-120b"], "/v1/responses");
  expect(modelsFor("codex", gpt).fit[0]).toBe("gpt-5.1");
});

test("the paths match the endpoints in the model list", () => {
  const paths: readonly string[] = Object.values(modelEndpoints).map(({ path }) => path);
  for (const path of everywhere) expect(paths).toContain(path);
});
