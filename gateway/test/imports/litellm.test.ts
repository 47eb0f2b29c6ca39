import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import OpenAI from "openai";
import { type Answer, sluice } from "../command-line.ts";
import { startGateway } from "../processes-fixture.ts";
import { hidden, liteLlmRows, saltKey, secrets, writeSqlite } from "./litellm-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-import-"));
const source = join(folder, "litellm.db");
let simulator: RunningSimulator;
beforeAll(() => {
  simulator = serveSimulator();
  writeSqlite(source, liteLlmRows(new URL(simulator.url).origin));
});
afterAll(() => {
  simulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

const salt = { LITELLM_SALT_KEY: saltKey };

async function installation(name: string): Promise<string> {
  const dataDir = join(folder, name);
  await sluice(["migrate"], dataDir);
  return dataDir;
}

/** Checks that no secret is in the output. */
async function importing(
  dataDir: string,
  words: string,
  variables: Readonly<Record<string, string>> = salt,
): Promise<Answer> {
  const answer = await sluice(["import", "litellm", ...words.split(" ")], dataDir, variables);
  for (const secret of [...hidden, ...Object.values(secrets)])
    expect(answer.stdout + answer.stderr).not.toContain(secret);
  return answer;
}

test("plans by default, and makes nothing", async () => {
  const dataDir = await installation("plan");
  const { status, stdout } = await importing(dataDir, `--database ${source}`);
  expect(status).toBe(0);
  for (const line of [
    "+ provider litellm-openai-compatible: openai-compatible",
    "+ model gpt-6.1-sol: litellm-openai-compatible/gpt-6.1-sol, own price, then claude",
    "+ model sol: litellm-openai-compatible/gpt-6.1-sol, own price",
    "+ model smart: litellm-anthropic/claude-sonnet-5-5, own price",
    "+ workspace search-ranking: models gpt-6.1-sol claude, 100 USD/month, of which 40 spent, rpm 600, tpm 1000000",
    "+ workspace team-7f3c1a00",
    "+ member search-ranking/bo@example.com: member, 20 USD/week, of which 1.5 spent, rpm 30",
    "+ member litellm-personal/bo@example.com: member, 10 USD/month",
    "+ key search-ranking/backend: models gpt-6.1-sol, 12.5 USD/month, of which 2.25 spent, rpm 60, concurrency 7, owner bo@example.com, keeps its secret …0001",
    "+ key search-ranking/key-697a56f9: 5 USD/day, tpm 100000, until 2099-01-01, keeps its secret …0002",
    "+ key team-7f3c1a00/blocked: disabled, keeps its secret",
    '+ budget litellm-organization-acme: 1000 USD/month, workspaces ["search-ranking"]',
    '+ budget litellm-tag-env-prod: 5 USD/day, tags {"env":"prod"}',
    '+ budget litellm-search-ranking-backend-claude: 2 USD/day, keys ["search-ranking/backend"], models ["claude"]',
    '+ budget litellm-search-ranking: 9 USD/hour, workspaces ["search-ranking"], 4 USD more until 2099-01-01',
    "nothing was made; use --apply to import",
  ]) {
    expect(stdout).toContain(line);
  }
  for (const line of [
    "user u3: a user needs an email address",
    "administrator anna@example.com: make them an administrator by hand",
    "team team-7f3c1a00: a budget of 50 USD for 14d",
    "key search-ranking/key-697a56f9: `allowed_routes` has no counterpart",
    "key team-7f3c1a00/expired: it has expired",
  ]) {
    expect(stdout).toContain(line);
  }
  expect(stdout).not.toContain("session");
  expect((await sluice(["workspace", "list"], dataDir)).stdout).toBe("no workspaces\n");
});

test("agents keep their secrets; a second import changes nothing; undo removes it", async () => {
  const dataDir = await installation("apply");
  const applied = JSON.parse((await importing(dataDir, `--database ${source} --apply --json`)).stdout);
  expect(applied).toMatchObject({ applied: true, unchanged: 0, missing: [] });
  {
    await using gateway = await startGateway(dataDir);
    const says = async (apiKey: string, path: string) => {
      const client = new OpenAI({ apiKey, baseURL: gateway.url + path, maxRetries: 0 });
      const answer = await client.chat.completions.create({
        model: "sol",
        messages: [{ role: "user", content: "hi" }],
      });
      return answer.choices[0]?.message.content;
    };
    // LiteLLM serves the paths with and without /v1.
    expect(await says(secrets.personal, "/v1")).toContain("hi");
    expect(await says(secrets.personal, "")).toContain("hi");
    for (const secret of [secrets.backend, secrets.app, secrets.ads])
      expect(await gateway.statusOfCall(secret)).toBe(200);
    const over = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secrets.ads}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sol", messages: [{ role: "user", content: "hi" }] }),
    });
    // It has spent its budget at LiteLLM.
    expect([over.status, ((await over.json()) as { error: { code: string } }).error.code]).toEqual([
      402,
      "budget_exceeded",
    ]);
    for (const header of ["x-api-key", "x-goog-api-key"]) {
      const answer = await fetch(`${gateway.url}/v1/models`, { headers: { [header]: secrets.ads } });
      expect(answer.status).toBe(200);
    }
    for (const secret of [secrets.blocked, secrets.expired, secrets.dashboard, hidden[1] ?? ""]) {
      expect(await gateway.statusOfCall(secret)).toBe(401);
    }
    const states = async () => JSON.parse((await sluice(["key", "list", "--json"], dataDir)).stdout).keys;
    const shown = (await states()) as { name: string; prefix: string; last_four: string; tags?: object }[];
    expect(shown.find(({ name }) => name === "backend")).toMatchObject({ prefix: "sk-lite", last_four: "0001" });

    // Used keys have their own digest now.
    const again = JSON.parse((await importing(dataDir, `--database ${source} --apply --json`)).stdout);
    expect(again).toMatchObject({ id: null, changes: [] });
    expect(again.unchanged).toBe(applied.changes.length - deploymentsAndGroups(applied.changes));
    expect(await gateway.statusOfCall(secrets.ads)).toBe(200);

    expect((await sluice(["key", "revoke", "ads"], dataDir)).status).toBe(0);
    await gateway.until(secrets.ads, 401);
  }
  await using restarted = await startGateway(dataDir);
  expect(await restarted.statusOfCall(secrets.backend)).toBe(200);
  expect(await restarted.statusOfCall(secrets.ads)).toBe(401);

  const undone = await importing(dataDir, `--undo ${applied.id}`);
  expect(undone.stdout).toContain("- key search-ranking/backend");
  // It was revoked since, so it and what it needs stay.
  expect(undone.stdout).toContain("it was changed since the import");
  expect(undone.stdout).not.toContain("- workspace team-7f3c1a00");
  await restarted.until(secrets.backend, 401);
  expect((await importing(dataDir, `--undo ${applied.id}`)).stderr).toContain("was undone already");
});

/** Changes that belong to other objects: a workspace's first group, a model's deployments, and the import itself. */
function deploymentsAndGroups(changes: readonly string[]): number {
  return changes.filter((text) => / (deployment|group|import) |^(updated|set price)/.test(text)).length;
}

test("reads config.yaml; names of variables stay until it is applied", async () => {
  const dataDir = await installation("yaml");
  const file = join(folder, "config.yaml");
  writeFileSync(
    file,
    `model_list:
  - model_name: gpt-6.1-sol
    litellm_params: { model: openai/gpt-6.1-sol, api_key: os.environ/OPENAI_KEY_ONE, order: 1 }
  - model_name: gpt-6.1-sol
    litellm_params: { model: azure/sol-eu, api_key: os.environ/AZURE_KEY, api_base: os.environ/AZURE_BASE, api_version: "2024-10-21" }
  - model_name: sonnet
    litellm_params: { model: bedrock/converse/anthropic.claude-sonnet-5, aws_region_name: eu-central-1 }
    model_info: { input_cost_per_token: 0.000003, output_cost_per_token: 0.000015 }
  - model_name: proxied
    litellm_params: { model: openai/gpt-6.1-sol, api_key: os.environ/OPENAI_KEY_ONE, api_base: "https://proxy.example.com/v1" }
  - model_name: eu
    litellm_params: { model: azure/our-deployment, api_key: os.environ/AZURE_KEY, api_base: os.environ/AZURE_BASE }
    model_info: { base_model: azure/gpt-6.1-sol }
  - model_name: all/*
    litellm_params: { model: openai/* }
litellm_settings: { default_fallbacks: [sonnet], timezone: Mars/Olympus }
environment_variables: { AZURE_KEY: azure-canary-key }
`,
  );
  const planned = await importing(dataDir, `--from ${file}`, { OPENAI_KEY_ONE: "openai-canary-key" });
  expect(planned.stdout).toContain("Set before --apply: AZURE_BASE");
  expect(planned.stdout).toContain(
    "+ model gpt-6.1-sol: litellm-openai/gpt-6.1-sol, litellm-azure-openai/sol-eu, price of the price list, then sonnet",
  );
  // LiteLLM charges the vendor's list price at any address, and the price of the base model for an own deployment.
  expect(planned.stdout).toContain("+ model proxied: litellm-openai-compatible/gpt-6.1-sol, own price");
  expect(planned.stdout).toMatch(/\+ model eu: litellm-azure-openai(-\d)?\/our-deployment, own price/);
  expect(planned.stdout).toContain("model all/*: a model's name cannot be a pattern");
  expect(planned.stdout).toContain("timezone Mars/Olympus: unknown time zone");
  const refused = await importing(dataDir, `--from ${file} --apply`, {});
  expect(refused).toMatchObject({ status: 1, stdout: "" });
  expect(refused.stderr).toContain(
    "set these variables, or remove their providers at the source: OPENAI_KEY_ONE, AZURE_BASE",
  );
  const variables = { OPENAI_KEY_ONE: "openai-canary-key", AZURE_BASE: "https://acme.openai.azure.com" };
  expect((await importing(dataDir, `--from ${file} --apply`, variables)).status).toBe(0);
  expect((await sluice(["provider", "list"], dataDir)).stdout).toContain("https://acme.openai.azure.com");
});

test.each([
  ["another salt key", `--database ${source}`, { LITELLM_SALT_KEY: "sk-another" }, "does not decrypt"],
  ["no salt key", `--database ${source}`, {}, "Set LITELLM_SALT_KEY"],
  ["a missing file", "--from nowhere.yaml", salt, "file nowhere.yaml not found"],
  ["a missing database", "--database nowhere.db", salt, "file nowhere.db not found"],
  ["neither", "--plan", salt, "name what to read with --from or --database"],
  ["a plan that is applied", `--database ${source} --plan --apply`, salt, "not both"],
  ["an address without TLS", "--from http://localhost/config.yaml", salt, "only https addresses"],
  ["another kind of database", "--database redis://localhost", salt, "must be a postgres:// or mysql:// address"],
  ["an unknown import", "--undo imp_1", salt, "Import not found"],
])("refuses %s, and makes nothing", async (_what, words, variables, message) => {
  const dataDir = await installation("refused");
  const answer = await importing(dataDir, words, variables);
  expect(answer.status).not.toBe(0);
  expect(answer.stderr.toLowerCase()).toContain(message.toLowerCase());
  expect((await sluice(["workspace", "list"], dataDir)).stdout).toBe("no workspaces\n");
});

test("refuses a file of more than 64 MB before reading it", async () => {
  const dataDir = await installation("huge");
  const file = join(folder, "huge.yaml");
  writeFileSync(file, "");
  truncateSync(file, 64 * 1_048_576 + 1);
  const answer = await importing(dataDir, `--from ${file}`);
  expect(answer).toMatchObject({ status: 1, stdout: "" });
  expect(answer.stderr).toContain("has more than 67108864 bytes");
});

test.each([
  ["broken YAML", "model_list: [\n  - {"],
  [
    "too many aliases",
    `a: &a [x]\n${Array.from({ length: 9 }, (_, n) => `${"bcdefghij"[n]}: &${"bcdefghij"[n]} [${Array(9).fill(`*${"abcdefghi"[n]}`).join(",")}]`).join("\n")}`,
  ],
  ["deep nesting", "[".repeat(100_000)],
  ["a list", "- 1"],
  ["text", "secret-canary-text"],
])("refuses a config.yaml with %s without quoting it", async (_what, text) => {
  const dataDir = await installation("hostile");
  const file = join(folder, "hostile.yaml");
  writeFileSync(file, text);
  const answer = await importing(dataDir, `--from ${file} --apply`);
  expect(answer).toMatchObject({ status: 1, stdout: "" });
  expect(answer.stderr.length).toBeLessThan(300);
});
