import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import OpenAI from "openai";
import { sluice } from "../command-line.ts";
import { startGateway } from "../processes-fixture.ts";
import { writeSqlite } from "./litellm-fixture.ts";
import { newApiRows, tokens } from "./new-api-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-import-"));
const source = join(folder, "one-api.db");
let simulator: RunningSimulator;
beforeAll(() => {
  simulator = serveSimulator();
  writeSqlite(source, newApiRows(new URL(simulator.url).origin), "");
});
afterAll(() => {
  simulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function importing(dataDir: string, words: string) {
  const answer = await sluice(["import", "new-api", ...words.split(" ")], dataDir);
  for (const secret of ["canary", ...Object.values(tokens)])
    expect(answer.stdout + answer.stderr).not.toContain(secret);
  return answer;
}

test("plans models with prices from ratios, groups, and budgets from quotas", async () => {
  const dataDir = join(folder, "plan");
  await sluice(["migrate"], dataDir);
  const { status, stdout } = await importing(dataDir, `--from ${source}`);
  expect(status).toBe(0);
  for (const line of [
    "+ model gpt-6.1-sol: new-api-openai-compatible/sol, new-api-openai-compatible-2/sol, new-api-anthropic/gpt-6.1-sol, own price",
    "+ model per-call: new-api-openai-compatible/per-call, new-api-openai-compatible-2/per-call, own price",
    "+ model gpt-6-luna: new-api-openai-compatible/gpt-6-luna, new-api-openai-compatible-2/gpt-6-luna, own price",
    "+ model nova: new-api-bedrock/nova",
    "+ model own: new-api-openai-compatible-3/own",
    "+ group new-api/vip\n",
    "+ member new-api/bo@example.com: member, 10 USD/total, of which 1 spent",
    "+ key new-api/bo ci: group vip, owner bo@example.com, keeps its secret",
    "+ key new-api/bo limited: models gpt-6.1-sol own, 2.5 USD/total, of which 0.5 spent, group default, owner bo@example.com",
    "+ key new-api/bo off: disabled",
    "+ key new-api/bo spent: 1 USD/total, of which 1 spent",
    "administrator root: make them an administrator by hand",
    "channel songs: Sluice has no provider type for channels of type 36",
    "GroupRatio vip: all groups have the same prices",
    "price of model own: it has a ratio, but neither a completion ratio",
    "key bo old: it has expired",
    "key bo limited: some of `allow_ips` are no addresses or ranges",
    "model gpt-6.1-sol: its channels are for different groups",
  ]) {
    expect(stdout).toContain(line);
  }
  expect(stdout).not.toContain("deleted");
});

test("callers keep their keys; a second import changes nothing; undo removes it", async () => {
  const dataDir = join(folder, "apply");
  await sluice(["migrate"], dataDir);
  const applied = JSON.parse((await importing(dataDir, `--database ${source} --apply --json`)).stdout);
  await using gateway = await startGateway(dataDir);
  const client = new OpenAI({ apiKey: `sk-${tokens.ci}`, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const answer = await client.chat.completions.create({
    model: "gpt-6.1-sol",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(answer.choices[0]?.message.content).toContain("hi");
  expect(await gateway.statusOfCall(`sk-${tokens.limited}`)).toBe(200);
  for (const token of [tokens.disabled, tokens.expired]) expect(await gateway.statusOfCall(`sk-${token}`)).toBe(401);
  const listed = JSON.parse((await sluice(["model", "list", "--json"], dataDir)).stdout).models;
  const places = listed.find(({ name }: { name: string }) => name === "gpt-6.1-sol").deployments;
  expect(places.map(({ upstream_model }: { upstream_model: string }) => upstream_model)).toEqual([
    "sol",
    "sol",
    "gpt-6.1-sol",
  ]);
  expect(JSON.parse((await importing(dataDir, `--database ${source} --apply --json`)).stdout)).toMatchObject({
    id: null,
    changes: [],
  });
  expect((await importing(dataDir, `--undo ${applied.id}`)).stdout).toContain("0 kept");
  await gateway.until(`sk-${tokens.ci}`, 401);
});

test("refuses a file that is no database", async () => {
  const dataDir = join(folder, "refused");
  await sluice(["migrate"], dataDir);
  writeFileSync(join(folder, "text.db"), "no database".repeat(1_000));
  const answer = await importing(dataDir, `--from ${join(folder, "text.db")}`);
  expect(answer).toMatchObject({ status: 1, stdout: "" });
  expect(answer.stderr).toContain("cannot read");
});
