import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLedgerStore, type Database, dataPaths, openDatabase } from "#storage/index.ts";
import { sluice } from "../command-line.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { migratedIn } from "../migrated.ts";

const config = `
providers: [{ id: up, kind: openai-compatible, base_url: https://up.example/v1 }]
models: [{ name: large, deployments: [{ provider: up }], price: { input: 2, output: 10 } }]
workspaces: [{ slug: acme, keys: [{ name: ci, secret: sk-ci-0123456789abcdefghijkl }] }]
`;
const day = Date.UTC(2026, 0, 15);
const period = ["--from", "2026-01-15", "--to", "2026-01-16"];

/** The key `ci` made a call a minute for an hour, with 1,000 tokens in and out each, for 0.012 USD. */
async function openInstallation({ captures = {} }: { readonly captures?: Readonly<Record<string, string>> } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-rehearse-"));
  const file = (name: string, text: string): string => {
    const path = join(dataDir, name);
    writeFileSync(path, text);
    return path;
  };
  await migratedIn(dataDir);
  expect((await sluice(["apply", file("config.yaml", config)], dataDir)).status).toBe(0);
  const database = openDatabase({ path: dataPaths(dataDir).database });
  const {
    id: keyId,
    workspace_id: workspaceId,
    group_id: groupId,
  } = await database.kysely.selectFrom("api_keys").selectAll().executeTakeFirstOrThrow();
  const { id: priceVersion } = await database.kysely.selectFrom("prices").select("id").executeTakeFirstOrThrow();
  const place = { keyId, workspaceId, groupId, provider: "up", model: "large", requestedModel: "large", priceVersion };
  const entries = Array.from({ length: 60 }, (_, n) => {
    const at = day + n * 60_000;
    const entry = ledgerEntry(String(n).padStart(4, "0"), { at, endedAt: at + 900, ...place, costNanoUsd: 12_000_000 });
    return { ...entry, usage: { ...entry.usage, inputUncached: 1_000, cacheRead: 0, output: 1_000, reasoning: 0 } };
  });
  await createLedgerStore(database).insert(entries.map((entry) => ({ ...entry, reservedNanoUsd: 0 })));
  await addCaptures(database, { keyId, workspaceId }, captures);
  await database.close();
  return {
    file,
    rehearse: (text: string, ...options: string[]) =>
      sluice(["rehearse", file("change.yaml", text), ...period, ...options], dataDir),
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** `captures`: texts of requests, by request. */
async function addCaptures(
  { kysely }: Pick<Database, "kysely">,
  { keyId, workspaceId }: { readonly keyId: string; readonly workspaceId: string },
  captures: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [id, content] of Object.entries(captures)) {
    const body = JSON.stringify({ model: "large", messages: [{ role: "user", content }] });
    await kysely
      .insertInto("request_captures")
      .values({
        ...{ request_id: id, workspace_id: workspaceId, key_id: keyId, at: day, expires_at: Number.MAX_SAFE_INTEGER },
        ...{ tools: null, request_headers: "[]", response_headers: "[]", request_body: body, response_body: null },
        ...{ request_bytes: body.length, response_bytes: null, truncated: 0 },
      })
      .execute();
  }
}

const budget = "workspaces: [{ slug: acme, keys: [{ name: ci, budget: { usd: 0.6, period: day } }] }]\n";

test("rehearse prints the refused calls and the exact money of a budget", async () => {
  using installation = await openInstallation();
  const { status, stdout, stderr } = await installation.rehearse(budget);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toStartWith("2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z: 60 calls\n");
  expect(stdout).toContain("refused: 10 (16.7 %), of 0 people and 1 key\n");
  expect(stdout).toContain("cost: 0.72 USD then, 0.60 USD with the change (-0.12 USD)\n");
  expect(stdout).toContain("first: 2026-01-15T00:50:00.000Z req_0050 by the budget of key acme/ci\n");
  expect(stdout).toMatch(/\n10 {7}budget {2}key acme\/ci\n/);
});

test("rehearse --json prints the result, and --fail-if decides about the exit status", async () => {
  using installation = await openInstallation();
  const allowed = await installation.rehearse(budget, "--json", "--fail-if", "refused>10", "--fail-if", "people>0");
  expect([allowed.status, allowed.stderr]).toEqual([0, ""]);
  expect(JSON.parse(allowed.stdout)).toMatchObject({ calls: 60, refused: 10, difference_nano_usd: "-120000000" });
  const failed = await installation.rehearse(budget, "--fail-if", "refused>0", "--fail-if", "difference_usd<-0.1");
  expect(failed.status).toBe(1);
  expect(failed.stderr).toBe("sluice: the rehearsal fails: refused>0 (10), difference_usd<-0.1 (-0.12)\n");
  const wrong = await installation.rehearse(budget, "--fail-if", "refusals>0");
  expect(wrong.status).toBe(2);
  const backwards = await installation.rehearse(budget, "--to", "2026-01-14");
  expect([backwards.status, backwards.stderr]).toEqual([2, "sluice: --from must be before --to\n"]);
  const elsewhere = await installation.rehearse(budget, "--workspace", "none");
  expect(elsewhere.status).toBe(1);
});

test("rehearse calculates past calls at another price", async () => {
  using installation = await openInstallation();
  const change = "models: [{ name: large, price: { input: 3, output: 10.5 } }]\n";
  const { stdout } = await installation.rehearse(change, "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ refused: 0, recorded_nano_usd: "720000000", rehearsed_nano_usd: "810000000" },
    repriced_nano_usd: "90000000",
  });
});

test("rehearse calculates a budget policy", async () => {
  using installation = await openInstallation();
  const change = 'budgets: [{ name: per-team, usd: 0.6, period: day, split_by: "tag:team" }]\n';
  const { stdout } = await installation.rehearse(change);
  expect(stdout).toContain("refused: 10 (16.7 %), of 0 people and 1 key\n");
  expect(stdout).toContain("by the budget of policy per-team (tag:team -)\n");
});

test("rehearse checks captured requests with a guardrail", async () => {
  using installation = await openInstallation({
    captures: { req_0003: "write to jane@example.org", req_0004: "hello" },
  });
  const guardrail = "{ name: no-mail, check: { kind: personal_data, types: [email] }, action: block }";
  const { status, stdout, stderr } = await installation.rehearse(`guardrails: [${guardrail}]\n`);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("refused: 1 (1.7 %), of 0 people and 1 key\n");
  expect(stdout).toContain("first: 2026-01-15T00:03:00.000Z req_0003 by the guardrail no-mail\n");
  expect(stdout).toMatch(/\nno-mail +enforced +1 +0 +0 +2 +58 +0\n/);
  expect(stdout).toMatch(/\nnot_captured +58\n/);
  const inWorkspace = `workspaces: [{ slug: acme, guardrails: [${guardrail}] }]\n`;
  const failed = await installation.rehearse(inWorkspace, "--fail-if", "blocked>0", "--fail-if", "masked>0");
  expect([failed.status, failed.stderr]).toEqual([1, "sluice: the rehearsal fails: blocked>0 (1)\n"]);
  const removed = await installation.rehearse("guardrails: [{ name: no-mail, enabled: false }]\n");
  expect(removed.status).toBe(1);
  expect(removed.stderr).toContain('guardrails[0].name: there is no enabled guardrail "no-mail"');
  const pattern = "{ name: ids, check: { kind: patterns, patterns: [{ name: id, regex: '(?=a)b' }] }, action: block }";
  const invalid = await installation.rehearse(`guardrails: [${pattern}]\n`);
  expect(invalid.status).toBe(1);
  expect(invalid.stderr).toContain("guardrails[0].check.patterns[0].regex: ");
});

test("rehearse names a wrong field or name with its place in the file", async () => {
  using installation = await openInstallation();
  const unknown = await installation.rehearse("workspaces:\n  - slug: acme\n    keys:\n      - name: cj\n");
  expect(unknown.status).toBe(1);
  expect(unknown.stderr).toContain('change.yaml:4:15: workspaces[0].keys[0].name: there is no key "cj"');
  const field = await installation.rehearse("workspaces:\n  - slug: acme\n    limit: {}\n");
  expect(field.stdout).toContain("change.yaml:3:5: workspaces[0]: unknown field `limit`; did you mean `limits`?");
  expect(field.stderr).toContain("is invalid: 1 problem");
  // A field of the config file that a change cannot contain.
  const outside = await installation.rehearse("workspaces: [{ slug: acme, budgets: [], name: Acme }]\n");
  expect(outside.stdout).toContain("unknown field `name`; allowed here: slug,");
});
