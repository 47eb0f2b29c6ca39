import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfigFile } from "#config/index.ts";
import { configWarnings, kindCheck } from "#main.ts";
import { sluice } from "./command-line.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-warnings-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(lines: readonly string[]): string {
  const file = join(folder, "c.yaml");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

const now = Date.UTC(2026, 5, 1);
const found = async (lines: readonly string[]): Promise<readonly string[]> => {
  const { warnings } = await loadConfigFile(written(lines), {}, [kindCheck], configWarnings(now));
  return warnings.map(({ line, path, message }) => `${line} ${path}: ${message}`);
};

test("warns of URLs that no call will reach", async () => {
  const provider = (address: string, more = ""): string =>
    `  - { id: p${address.replaceAll(/\W/g, "")}, kind: openai-compatible, base_url: "${address}"${more} }`;
  const lines = await found([
    "providers:",
    provider("http://127.0.0.1:11434/v1"),
    provider("http://localhost:11434/v1"),
    provider("http://[::1]/v1"),
    provider("http://10.0.0.7/v1", ", allow_private_network: true"),
    provider("http://169.254.169.254/v1", ", allow_private_network: true"),
    provider("https://models.example.com/v1"),
    "  - { id: usual, kind: openai }",
    "  - { id: demo, kind: demo }",
    "  - { id: own, kind: ollama }",
  ]);
  const without = "is a private address: every call will fail without `allow_private_network: true`";
  expect(lines).toEqual([
    `2 providers[0].base_url: 127.0.0.1 ${without}`,
    `3 providers[1].base_url: localhost ${without}`,
    `4 providers[2].base_url: ::1 ${without}`,
    "6 providers[4].base_url: 169.254.169.254 is never allowed as an upstream: every call will fail",
    `10 providers[8]: localhost ${without}`,
  ]);
});

test("warns of models without a deployment, of weights that are all 0, and of a next price in the past", async () => {
  const lines = await found([
    "providers: [{ id: a, kind: openai }, { id: off, kind: openai, enabled: false }]",
    "models:",
    "  - { name: m1, deployments: [{ provider: a, enabled: false }, { provider: off }] }",
    "  - { name: m2, deployments: [{ provider: a, weight: 0 }, { provider: off }] }",
    "  - { name: m3, deployments: [{ provider: a, weight: 0 }, { provider: a, upstream_model: x }] }",
    "  - { name: m4, deployments: [{ provider: a }], next_price: { from: 2026-01-01, price: { input: 1 } } }",
    "  - { name: m5, deployments: [{ provider: a }], next_price: { from: 2027-01-01, price: { input: 1 } } }",
    // Fallbacks of a fallback are not followed, so two models may name each other.
    "  - { name: m6, deployments: [{ provider: a }], fallbacks: [m7] }",
    "  - { name: m7, deployments: [{ provider: a }], fallbacks: [m6] }",
  ]);
  expect(lines).toEqual([
    "3 models[0].deployments: every deployment, or its provider, is disabled: every call will fail",
    "4 models[1].deployments: every weight is 0, so all are called equally; use `enabled: false` to disable a deployment",
    "6 models[3].next_price.from: this time is in the past: the price applies now, instead of `price`",
  ]);
});

test("warns of models without a price only where their calls are refused", async () => {
  const file = (more: readonly string[]) => [
    "providers: [{ id: a, kind: openai }, { id: demo, kind: demo }]",
    "models:",
    "  - { name: bare, deployments: [{ provider: a }] }",
    "  - { name: priced, deployments: [{ provider: a }], price: { input: 1 } }",
    "  - { name: free, deployments: [{ provider: a }], unpriced: allow }",
    "  - { name: demo, deployments: [{ provider: demo }] }",
    "  - { name: embedder, type: embedding, deployments: [{ provider: a }] }",
    ...more,
  ];
  const bare = "3 models[0]: it has no price";
  const embedder = "7 models[4]: it has no price";
  const inBudgets = "will be refused; write `price` or `unpriced: allow`";
  expect(await found(file([]))).toEqual([]);
  const ofKey = "workspaces: [{ slug: acme, keys: [{ name: ci, budget: { usd: 1, period: month } }] }]";
  expect(await found(file([ofKey]))).toEqual([
    `${bare}: calls that a budget counts (key acme/ci) ${inBudgets}`,
    `${embedder}: calls that a budget counts (key acme/ci) ${inBudgets}`,
  ]);
  expect(await found(file([ofKey, "settings: { unpriced: allow }"]))).toEqual([]);
  expect(await found(file([ofKey, "settings: { unpriced: { price_as: priced } }"]))).toEqual([
    `${embedder}: all of its calls will be refused`,
  ]);
  expect(await found(file(["settings: { unpriced: { price_as: gone } }"]))).toEqual([
    `${bare}: all of its calls will be refused`,
    `${embedder}: all of its calls will be refused`,
    '8 settings.unpriced.price_as: the model "gone" is not in this file, so its price cannot be used',
  ]);
});

test("warns of grants that allow no call, and of expired keys and tokens", async () => {
  const over = "2026-01-01T00:00:00Z";
  const workspaces = [
    "workspaces:",
    "  - slug: acme",
    "    models: [gpt-*, '*']",
    "    groups: [{ name: default, models: [] }, { name: old, models: [gpt-4*, claude] }]",
    "    keys:",
    "      - { name: was, expires_at: 2026-01-01T00:00:00Z }",
    "      - { name: will, expires_at: 2027-01-01T00:00:00Z, models: [gpt-5] }",
    "tokens:",
    `  - { name: t, owner: a@example.com, administrator: true, secret_sha256: "${"0".repeat(64)}", expires_at: ${over} }`,
  ];
  const expired = [
    "6 workspaces[0].keys[0].expires_at: this time is in the past: the key has expired",
    "9 tokens[0].expires_at: this time is in the past: the token has expired",
  ];
  const empty = "4 workspaces[0].groups[0].models: the list is empty: no model can be called";
  // Models may be created in the console.
  expect(await found(workspaces)).toEqual([empty, ...expired]);
  const models = "models: [{ name: gpt-5, deployments: [{ provider: a }] }]";
  const whole = [...workspaces, models, "providers: [{ id: a, kind: openai }]"];
  expect(await found(whole)).toEqual([
    empty,
    '4 workspaces[0].groups[1].models[0]: no model of this file is called "gpt-4*"',
    '4 workspaces[0].groups[1].models[1]: no model of this file is called "claude"',
    ...expired,
  ]);
});

test("check prints warnings and exits with 0, or 1 with --strict; --json has them; apply and doctor show them too", async () => {
  const file = written(["providers: [{ id: a, kind: ollama, base_url: 'http://127.0.0.1:1/v1' }]"]);
  const warning = "providers[0].base_url: 127.0.0.1 is a private address: every call will fail without";
  const dataDir = join(folder, "data");
  const { status, stdout } = await sluice(["check", file], dataDir);
  expect([status, stdout]).toEqual([0, expect.stringContaining(`${file}:1:46: warning: ${warning}`)]);
  expect(stdout).toContain("is valid: 1 provider");
  const strict = await sluice(["check", "--strict", file], dataDir);
  expect(strict).toMatchObject({ status: 1, stderr: `sluice: ${file} has 1 warning\n` });
  const json = await sluice(["check", "--json", file], dataDir);
  expect(JSON.parse(json.stdout)).toMatchObject({ valid: true, warnings: [{ line: 1, column: 46 }] });
  expect((await sluice(["apply", file], dataDir)).stderr).toContain(`warning: ${warning}`);
  const doctor = await sluice(["doctor"], dataDir, { SLUICE_CONFIG: file, SLUICE_PORT: "0" });
  expect(doctor.stdout).toContain(`warn  config file: ${file}:1:46: ${warning}`);
});
