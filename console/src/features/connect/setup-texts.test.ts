import { expect, test } from "bun:test";
import { codexProviderLines } from "@sluice/contract/words";
import { agentTexts, ciTexts, takesSignIn } from "./setup-texts.ts";

const url = "https://ai.example.com/it's";
const model = 'a "model"';

const codesOf = (snippets: ReturnType<typeof agentTexts>, id: string) =>
  snippets.find((snippet) => snippet.id === id)?.parts.map(({ code }) => code) ?? [];

test("programs can read the manual setup for any URL and model name", () => {
  const claude = codesOf(agentTexts(`${url}/`, model), "claude-code");
  const objects = claude.filter((code) => code.startsWith("{")).map((code) => JSON.parse(code));
  expect(objects).toEqual([
    { forceLoginMethod: "gateway", forceLoginGatewayUrl: url },
    { apiKeyHelper: "sluice token", env: { ANTHROPIC_BASE_URL: url } },
  ]);
  const [, config = ""] = codesOf(agentTexts(url, model), "codex");
  expect(Bun.TOML.parse(config)).toMatchObject({
    model,
    model_provider: "sluice",
    model_providers: {
      sluice: { base_url: `${url}/v1`, wire_api: "responses", auth: { command: "sluice", args: ["token"] } },
    },
  });
  // The configuration that `sluice connect codex` writes.
  expect(config).toEndWith(codexProviderLines(url).join("\n"));
  const [github = "", gitlab = ""] = ciTexts(url, model).map(({ parts }) => parts[0]?.code);
  const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_MODEL: model, OPENAI_BASE_URL: `${url}/v1` };
  expect(Bun.YAML.parse(github)).toMatchObject({
    jobs: { review: { env: { ...env, OPENAI_API_KEY: ["$", "{{ secrets.SLUICE_TOKEN }}"].join("") } } },
  });
  expect(Bun.YAML.parse(gitlab)).toMatchObject({ review: { variables: env } });
});

test("a URL needs no quoting in a shell", async () => {
  const [shell = ""] = codesOf(agentTexts(url, model), "codex");
  const code = shell.replaceAll(/^sluice/gm, "echo").replace(/^codex$/m, "");
  expect(await Bun.$`sh -c ${code}`.text()).toBe(`login ${url}\nconnect codex ${url}\n`);
});

test("agents sign in at https addresses, or on the gateway's own machine", () => {
  const bases = ["https://a.example", "http://localhost:8787", "http://127.0.0.1:1", "http://10.0.0.4:8787", "none"];
  expect(bases.map(takesSignIn)).toEqual([true, true, true, false, false]);
});
