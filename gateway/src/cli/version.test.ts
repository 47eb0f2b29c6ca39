import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { sluice } from "../../test/command-line.ts";
import { checkedOut, readRevision, version } from "./version.ts";

const root = join(import.meta.dir, "..", "..", "..");
const read = (name: string): string => readFileSync(join(root, name), "utf8");

test("prints the version of package.json, which scripts/set-version.mjs writes everywhere", () => {
  const { workspaces, version: expected } = JSON.parse(read("package.json"));
  expect(version).toBe(expected);
  const lock = JSON.parse(read("package-lock.json"));
  expect(lock.version).toBe(expected);
  for (const folder of workspaces) {
    expect([folder, JSON.parse(read(`${folder}/package.json`)).version]).toEqual([folder, expected]);
    expect([folder, lock.packages[folder].version]).toEqual([folder, expected]);
  }
  const chart = parse(read("deploy/chart/Chart.yaml"));
  expect([chart.version, chart.appVersion]).toEqual([expected, expected]);
});

const hash = "72c595dc".padEnd(40, "0");

test("reads the commit of a checkout: a branch, a packed ref, none, a linked worktree", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-checkout-"));
  const write = (name: string, lines: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${lines}\n`);
  };
  try {
    expect(checkedOut(folder)).toBe("unknown");
    write(".git/HEAD", "ref: refs/heads/main");
    expect(checkedOut(folder)).toBe("unknown");
    write(".git/packed-refs", `# pack-refs with: peeled\n${"1".repeat(40)} refs/heads/xmain\n${hash} refs/heads/main`);
    expect(checkedOut(folder)).toBe(`${hash}-checkout`);
    write(".git/refs/heads/main", "2".repeat(40));
    expect(checkedOut(folder)).toBe(`${"2".repeat(40)}-checkout`);
    write(".git/HEAD", hash);
    expect(checkedOut(folder)).toBe(`${hash}-checkout`);
    // As `git init --ref-format=reftable` writes it.
    write(".git/HEAD", "ref: refs/heads/.invalid");
    expect(checkedOut(folder)).toBe("unknown");
    write(".git/worktrees/other/HEAD", "ref: refs/heads/main");
    write(".git/worktrees/other/commondir", "../..");
    write("other/.git", `gitdir: ${join(folder, ".git/worktrees/other")}`);
    expect(checkedOut(join(folder, "other"))).toBe(`${"2".repeat(40)}-checkout`);
    write("other/.git", "gitdir: ../.git/worktrees/other");
    expect(checkedOut(join(folder, "other"))).toBe(`${"2".repeat(40)}-checkout`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("--version and `version` print the version with the commit, `version --json` the full one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-version-"));
  try {
    const revision = readRevision();
    const line = `${version} (${revision === "unknown" ? revision : `${hashOf(revision).slice(0, 12)}-checkout`})\n`;
    expect(await sluice(["--version"], folder)).toMatchObject({ status: 0, stdout: line });
    expect(await sluice(["version"], folder)).toMatchObject({ status: 0, stdout: line });
    const { stdout } = await sluice(["version", "--json"], folder);
    expect(JSON.parse(stdout)).toEqual({ version, revision, date: null });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The commit according to git, if this is a checkout. */
function hashOf(revision: string): string {
  const { stdout } = Bun.spawnSync(["git", "rev-parse", "HEAD"], { cwd: root });
  const hash = stdout.toString().trim();
  expect(revision).toBe(`${hash}-checkout`);
  return hash;
}
