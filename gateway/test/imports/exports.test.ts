import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-import-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function importing(name: string, product: string, exported: object, words = "") {
  const dataDir = join(folder, name);
  const file = join(folder, `${name}.json`);
  await sluice(["migrate"], dataDir);
  writeFileSync(file, JSON.stringify(exported));
  const options = words === "" ? [] : words.split(" ");
  const variables = { OPENROUTER_API_KEY: "sk-or-canary" };
  const answer = await sluice(["import", product, "--from", file, ...options], dataDir, variables);
  expect(answer.stdout + answer.stderr).not.toContain("canary");
  return { ...answer, dataDir };
}

const openRouterKeys = {
  data: [
    { hash: "a1", name: "ci", disabled: false, limit: 50, limit_reset: "monthly", usage: 300, usage_monthly: 12.5 },
    { hash: "a2", name: "ci", disabled: true, limit: null },
    {
      hash: "a3",
      name: "once",
      disabled: false,
      limit: 5,
      limit_reset: null,
      usage: 5,
      expires_at: "2099-01-01T00:00:00Z",
    },
    { hash: "a4", name: "old", disabled: false, limit: null, expires_at: "2020-01-01T00:00:00Z" },
  ],
};

test("names of another gateway's data do not control the terminal", async () => {
  const model = { model_name: "all\u001b]0;title\u0007/*", litellm_params: { model: "openai/*" } };
  const { stdout } = await importing("controls", "litellm", { model_list: [model] });
  expect(stdout).toContain("model all ]0;title /*");
  expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
});

test("OpenRouter's keys get their limits, and new secrets by hand", async () => {
  const { stdout, dataDir } = await importing("openrouter", "openrouter", openRouterKeys, "--apply");
  for (const line of [
    "+ provider openrouter-openrouter: openrouter, API key set",
    "+ key openrouter/ci: 50 USD/month, of which 12.5 spent, needs a new secret",
    "+ key openrouter/ci-2: disabled, needs a new secret",
    "+ key openrouter/once: 5 USD/total, of which 5 spent, until 2099-01-01, needs a new secret",
    "key old: it has expired",
  ]) {
    expect(stdout).toContain(line);
  }
  const keys = JSON.parse((await sluice(["key", "list", "--json"], dataDir)).stdout).keys;
  expect(keys.map(({ name, last_four }: { name: string; last_four: string }) => [name, last_four])).toEqual([
    ["ci", ""],
    ["ci-2", ""],
    ["once", ""],
  ]);
  const rotated = JSON.parse((await sluice(["key", "rotate", "openrouter/ci", "--json"], dataDir)).stdout);
  expect(rotated.secret).toStartWith("sk-sluice-");
  const again = await importing("openrouter", "openrouter", openRouterKeys, "--apply");
  expect(again.stdout).toContain("nothing to import; 5 are there from an earlier import");
});

test("Portkey's virtual keys become providers, and its configs models", async () => {
  const exported = {
    virtual_keys: {
      data: [
        {
          slug: "openai-main",
          name: "OpenAI",
          ai_provider_name: "openai",
          status: "active",
          usage_limits: { credit_limit: 5 },
        },
        { slug: "claude", name: "Claude", ai_provider_name: "anthropic", status: "active" },
        { slug: "aws", name: "AWS", ai_provider_name: "bedrock", status: "archived" },
        { slug: "odd", name: "Odd", ai_provider_name: "nebula", status: "active" },
      ],
    },
    configs: [
      {
        slug: "pc-main",
        config: JSON.stringify({
          strategy: { mode: "fallback" },
          targets: [
            { virtual_key: "openai-main", override_params: { model: "gpt-6.1-sol" } },
            { provider: "@claude", override_params: { model: "claude-opus-5" } },
          ],
          cache: { mode: "simple" },
        }),
      },
      { slug: "pc-any", config: { virtual_key: "openai-main" } },
      { slug: "pc-rules", config: { strategy: { mode: "conditional", conditions: [] } } },
    ],
  };
  const { status, stdout } = await importing("portkey", "portkey", exported);
  expect(status).toBe(0);
  for (const line of [
    "+ provider portkey-openai-main: openai, no API key",
    "+ provider portkey-aws: bedrock, no API key",
    "+ model pc-main: portkey-openai-main/gpt-6.1-sol, portkey-claude/claude-opus-5, price of the price list",
    "virtual key odd: Sluice has no provider type for nebula",
    "virtual key openai-main: `usage_limits`: providers have no limits",
    "config pc-main: `cache` has no counterpart",
    "config pc-any: a target is nested, names no model",
    "config pc-rules: the strategy conditional has no counterpart",
  ]) {
    expect(stdout).toContain(line);
  }
});

test("refuses an export that is missing or no object", async () => {
  expect((await importing("empty", "openrouter", [])).stderr).toContain("must contain an object");
  const { stderr } = await sluice(["import", "portkey", "--plan"], join(folder, "empty"));
  expect(stderr).toContain("name what to read with --from or --database");
});
