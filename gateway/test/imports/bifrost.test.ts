import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { sluice } from "../command-line.ts";
import { startGateway } from "../processes-fixture.ts";
import { bifrostConfig, bifrostRows, passphrase, virtualKeys } from "./bifrost-fixture.ts";
import { writeSqlite } from "./litellm-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-import-"));
const file = join(folder, "config.json");
const database = join(folder, "config.db");
let simulator: RunningSimulator;
beforeAll(() => {
  simulator = serveSimulator();
  const upstream = new URL(simulator.url).origin;
  writeFileSync(file, JSON.stringify(bifrostConfig(upstream)));
  writeSqlite(database, bifrostRows(upstream), "");
});
afterAll(() => {
  simulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

const variables = { BIFROST_ENCRYPTION_KEY: passphrase, BF_OPENAI: "sk-canary-file" };

async function importing(dataDir: string, words: string, given: Readonly<Record<string, string>> = variables) {
  await sluice(["migrate"], dataDir);
  const answer = await sluice(["import", "bifrost", ...words.split(" ")], dataDir, given);
  for (const secret of ["canary", passphrase, ...Object.values(virtualKeys)]) {
    expect(answer.stdout + answer.stderr).not.toContain(secret);
  }
  return answer;
}

test("plans customers as workspaces, their teams as groups, and models with and without their provider", async () => {
  const { status, stdout } = await importing(join(folder, "plan"), `--from ${file}`);
  expect(status).toBe(0);
  for (const line of [
    "+ model openai/gpt-6.1-sol: bifrost-openai-compatible/gpt-6.1-sol, own price",
    "+ model gpt-6.1-sol: bifrost-openai-compatible/gpt-6.1-sol",
    "+ model claude-opus-5: bifrost-anthropic/claude-opus-5, price of the price list",
    "+ workspace acme-corp: 100 USD/month, of which 12 spent",
    "+ group acme-corp/search: 25 USD/day",
    "+ workspace lone",
    "+ key acme-corp/search: models openai/* gpt-6.1-sol anthropic/claude-opus-5 claude-opus-5, rpm 60, group search, keeps its secret",
    "+ key acme-corp/off: disabled, models none",
    "provider nebula: Sluice has no provider type for it",
    "models of provider cohere: it serves all models of the vendor",
    "team lone: a budget of 3 USD for 1Y",
    "key acme-corp/search: a limit of 9 tokens for 1h: limits are for a minute",
    "routing_rules: it has no counterpart",
  ]) {
    expect(stdout).toContain(line);
  }
});

test("callers keep their virtual keys in every header of Bifrost", async () => {
  const dataDir = join(folder, "apply");
  const applied = JSON.parse((await importing(dataDir, `--database ${database} --from ${file} --apply --json`)).stdout);
  await using gateway = await startGateway(dataDir);
  const call = async (headers: Record<string, string>, model: string) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
    });
    await answer.text();
    return answer.status;
  };
  for (const secret of [virtualKeys.stored, virtualKeys.file]) {
    expect(await call({ "x-bf-vk": secret }, "anthropic/claude-opus-5")).toBe(200);
    expect(await call({ authorization: `Bearer ${secret}` }, "claude-opus-5")).toBe(200);
    expect(await call({ "x-api-key": secret, "x-bf-vk": secret }, "claude-opus-5")).toBe(200);
  }
  expect(await call({ "x-bf-vk": virtualKeys.off }, "claude-opus-5")).toBe(401);
  expect(await call({ "x-bf-vk": virtualKeys.file, "x-api-key": virtualKeys.stored }, "claude-opus-5")).toBe(401);
  const again = await importing(dataDir, `--database ${database} --from ${file} --apply --json`);
  expect(JSON.parse(again.stdout)).toMatchObject({ id: null, changes: [] });
  expect((await importing(dataDir, `--undo ${applied.id}`)).stdout).toContain("0 kept");
  await gateway.until(virtualKeys.stored, 401);
});

test.each([
  ["another encryption key", { BIFROST_ENCRYPTION_KEY: "wrong" }, "does not decrypt"],
  ["no encryption key", {}, "has encrypted values. Set BIFROST_ENCRYPTION_KEY"],
])("refuses %s, and makes nothing", async (_what, given, message) => {
  const dataDir = join(folder, "refused");
  const answer = await importing(dataDir, `--database ${database} --apply`, given);
  expect(answer).toMatchObject({ status: 1, stdout: "" });
  expect(answer.stderr).toContain(message);
  expect((await sluice(["workspace", "list"], dataDir)).stdout).toBe("no workspaces\n");
});
