import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { sluice } from "../command-line.ts";
import { startGateway } from "../processes-fixture.ts";
import installation from "./fixtures/litellm-installation.json" with { type: "json" };
import { writeSqlite } from "./litellm-fixture.ts";

/**
 * The tables of a LiteLLM 1.108.7 proxy with ten teams, created with its API and used with its keys. Dates of renewal and expiry are
 * replaced by 2099; columns without a value are left out.
 */
const { secrets, tables } = installation;
const folder = mkdtempSync(join(tmpdir(), "sluice-litellm-"));
const dataDir = join(folder, "data");
let simulator: RunningSimulator;
let variables: Record<string, string>;
beforeAll(async () => {
  simulator = serveSimulator();
  const { origin } = new URL(simulator.url);
  variables = {
    LITELLM_SALT_KEY: "salt-1234",
    LITELLM_UPSTREAM: `${origin}/v1`,
    LITELLM_UPSTREAM_ROOT: origin,
  };
  writeSqlite(join(folder, "litellm.db"), tables);
  await sluice(["migrate"], dataDir);
});
afterAll(() => {
  simulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("ten teams move, and every key calls its models as at LiteLLM", async () => {
  const words = ["import", "litellm", "--database", join(folder, "litellm.db")];
  const { status, stdout } = await sluice([...words, "--apply"], dataDir, variables);
  expect(status).toBe(0);
  for (const secret of [...Object.values(secrets), "canary"]) expect(stdout).not.toContain(secret);
  for (const line of [
    "+ model gpt-5: litellm-openai-compatible/gpt-5, litellm-openai-compatible-2/gpt-5, own price",
    "+ workspace team-1: models gpt-5 cheap, 201 USD/week, of which 0.01235 spent, rpm 500, tpm 50000",
    "+ workspace team-9: disabled",
    "+ member team-2/p2@example.com: admin, 12.5 USD/month, of which 0.0078 spent",
    "+ key team-1/tiered: 3 USD/day, of which 0.0039 spent, rpm 5, keeps its secret",
    '+ budget litellm-tag-prod: 50 USD/day, tags {"prod":"true"}',
    "team team-4: a budget of 502.5 USD for 14d",
    "end user end-user-1: limits of end users are not imported",
  ]) {
    expect(stdout).toContain(line);
  }
  await using gateway = await startGateway(dataDir, variables);
  const call = async (secret: string, model: string) => {
    const { status } = await fetch(`${gateway.url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 5 }),
    });
    return status;
  };
  for (const [name, secret] of Object.entries(secrets)) {
    const isOff = name.startsWith("t9") || name === "t4-k2";
    const onlyCheap = name.endsWith("k2");
    const statuses = [await call(secret, "cheap"), await call(secret, "gpt-5")];
    expect({ name, statuses }).toEqual({
      name,
      statuses: isOff ? [expect.any(Number), expect.any(Number)] : [200, onlyCheap ? 404 : 200],
    });
    if (isOff) expect(statuses.every((status) => status === 401 || status === 403)).toBe(true);
  }
  const again = await sluice([...words, "--apply"], dataDir, variables);
  expect(again.stdout).toContain("nothing to import");
});
