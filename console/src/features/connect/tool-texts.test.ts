import { expect, test } from "bun:test";
import { toolTexts } from "./tool-texts.ts";
import { type ToolId, tools } from "./tools.ts";

const url = "https://ai.example.com";
const model = "claude-sonnet-5";
const pasted = tools.map(({ id }) => id).filter((id): id is Exclude<ToolId, "ci"> => id !== "ci");
const textOf = (tool: Exclude<ToolId, "ci">, apiKey: string | null) =>
  toolTexts(tool, { baseUrl: `${url}/`, apiKey, model })
    .map(({ code }) => code)
    .join("\n");

test.each(pasted)("the setup of %s has the gateway's address, the new key and the model", (tool) => {
  const text = textOf(tool, "sk-sluice-new");
  expect(text).toContain(url);
  expect(text).not.toContain(".com//");
  expect(text).toContain("sk-sluice-new");
  // Open WebUI lists the models of the key.
  if (tool !== "open-webui") expect(text).toContain(model);
});

test.each(pasted)("the setup of %s contains no key without one", (tool) => {
  expect(textOf(tool, null)).toMatch(/SLUICE_API_KEY|your API key/);
});

test("Claude Code gets a model for each of its tiers", () => {
  for (const tier of ["OPUS", "SONNET", "HAIKU"]) {
    expect(textOf("claude-code", null)).toContain(`ANTHROPIC_DEFAULT_${tier}_MODEL='${model}'`);
  }
});

test("a container reaches a gateway on its own machine", () => {
  const [part] = toolTexts("open-webui", { baseUrl: "http://localhost:8787", apiKey: null, model });
  expect(part?.code).toContain("http://host.docker.internal:8787/v1");
});
