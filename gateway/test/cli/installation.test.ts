import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-installation-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test("a plan shows what apply would change, returns status 2, and changes nothing", async () => {
  const dataDir = join(folder, "planned");
  const config = (rpm: number, more = "") =>
    written(
      "planned.yaml",
      `providers: [{ id: main, kind: demo, api_key: not-to-be-shown }]\nworkspaces: [{ slug: acme, limits: { rpm: ${rpm} } }${more}]\n`,
    );
  const file = config(5, ", { slug: beta }");
  expect(await sluice(["apply", "--dry-run", file], dataDir)).toMatchObject({ status: 1 });
  expect(existsSync(dataDir)).toBe(false);
  await sluice(["apply", file], dataDir);
  expect(await sluice(["apply", "--dry-run", file], dataDir)).toEqual({
    status: 0,
    stdout: "no changes; 5 unchanged\n",
    stderr: "",
  });
  config(9, ", { slug: gamma }");
  const plan = await sluice(["apply", "--dry-run", file], dataDir);
  expect(plan.status).toBe(2);
  for (const line of [
    '    limits: {"rpm":5} -> {"rpm":9}',
    "~ update workspace acme",
    "+ create workspace gamma",
    "- suspend workspace beta",
  ]) {
    expect(plan.stdout.split("\n")).toContain(line);
  }
  expect(plan.stdout).not.toContain("not-to-be-shown");
  const asJson = JSON.parse((await sluice(["apply", "--dry-run", "--json", file], dataDir)).stdout);
  expect(asJson).toMatchObject({ unchanged: 2 });
  expect(asJson.changes).toContainEqual({
    action: "update",
    object: "workspace acme",
    fields: { limits: [{ rpm: 5 }, { rpm: 9 }] },
  });
  const listed = JSON.parse((await sluice(["workspace", "list", "--json"], dataDir)).stdout).workspaces;
  expect(listed).toMatchObject([{ slug: "acme" }, { slug: "beta", managed_by: "file" }]);
});

test("refuses a large removal and lists it; --prune confirms it", async () => {
  const dataDir = join(folder, "pruned");
  const file = written("pruned.yaml", "providers: [{ id: main, kind: demo }]\nworkspaces: [{ slug: acme }]\n");
  await sluice(["apply", file], dataDir);
  written("pruned.yaml", "providers: [{ id: main, kind: demo }]\n");
  const refused = await sluice(["apply", file], dataDir);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain("1 of 1 workspaces (acme)");
  expect((await sluice(["apply", "--dry-run", file], dataDir)).stdout).toContain("needs --prune");
  expect((await sluice(["apply", "--prune", file], dataDir)).stdout).toContain("suspended workspace acme");
});

const strangers: readonly string[] = [
  "key list",
  "key show x",
  "key create --name x",
  "user list",
  "token list",
  "workspace list",
  "workspace create acme",
  "ledger verify",
  "ledger export",
  "master-key rotate",
  "provider test x",
];

test("a command in a folder without an installation fails and creates none", async () => {
  const dataDir = join(folder, "elsewhere");
  for (const line of strangers) {
    const { status, stderr } = await sluice(line.split(" "), dataDir);
    expect([line, status, stderr.includes(`There is no database in ${dataDir}`)]).toEqual([line, 1, true]);
  }
  expect(existsSync(dataDir)).toBe(false);
});

test("no command prints help; version prints the version; errors are JSON with --json", async () => {
  const dataDir = join(folder, "helped");
  const help = await sluice([], dataDir);
  expect(help).toMatchObject({ status: 0, stdout: expect.stringContaining("Usage: sluice"), stderr: "" });
  expect((await sluice(["version"], dataDir)).stdout).toMatch(/^\d+\.\d+\.\d+/);
  const failed = await sluice(["key", "list", "--json"], dataDir);
  expect(JSON.parse(failed.stderr)).toEqual({ error: expect.stringContaining("There is no database") });
  expect(existsSync(dataDir)).toBe(false);
});

test("commands accept a key by its name", async () => {
  const dataDir = join(folder, "named");
  const file = written("named.yaml", "workspaces: [{ slug: acme }, { slug: beta }]\n");
  await sluice(["apply", file], dataDir);
  for (const slug of ["acme", "beta"]) await sluice(["key", "create", "--name", "ci", "--workspace", slug], dataDir);
  expect((await sluice(["key", "show", "ci"], dataDir)).stderr).toContain("acme/ci");
  const shown = JSON.parse((await sluice(["key", "show", "beta/ci", "--json"], dataDir)).stdout);
  expect(shown).toMatchObject({ workspace: "beta", name: "ci", state: "active", last_used_at: null });
  expect((await sluice(["key", "revoke", "beta/ci"], dataDir)).stdout).toContain("revoked ci of beta/default");
  expect((await sluice(["key", "rotate", "ci"], dataDir)).status).toBe(0);
  const missing = await sluice(["backup", join(folder, "nowhere", "x.sqlite")], dataDir);
  expect(missing.stderr).toContain("There is no folder");
});
