import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./child.ts";

/** A copy of the repository after `npm ci`, with what the installer checks, and an `npm` that only records that it was called. */
let clone: string;
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "sluice-install-"));
  mkdirSync(join(clone, "scripts"));
  mkdirSync(join(clone, "node_modules", ".bin"), { recursive: true });
  mkdirSync(join(clone, "path"));
  for (const file of ["install.mjs", "runtime-environment.json"])
    cpSync(join(root, "scripts", file), join(clone, "scripts", file));
  cpSync(join(root, "package-lock.json"), join(clone, "package-lock.json"));
  mkdirSync(join(clone, "node_modules", "bun"));
  writeFileSync(join(clone, "path", "npm"), `#!/bin/sh\necho "$@" > ${join(clone, "npm-was-called")}\n`);
  chmodSync(join(clone, "path", "npm"), 0o755);
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** Creates the runtime, or removes it so that its install script has to create it. */
function setRuntime(exists: boolean): void {
  const program = join(clone, "node_modules", ".bin", "bun");
  rmSync(program, { force: true });
  if (exists) symlinkSync(process.execPath, program);
  const step = `require("node:fs").symlinkSync(${JSON.stringify(process.execPath)}, ${JSON.stringify(program)})`;
  writeFileSync(join(clone, "node_modules", "bun", "install.js"), step);
}
beforeEach(() => setRuntime(true));

/** Writes npm's record of installed packages; `change` may alter it. */
function writeInstalled(change: (packages: Record<string, { version?: string }>) => void = () => {}): void {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  delete lock.packages[""];
  change(lock.packages);
  writeFileSync(join(clone, "node_modules", ".package-lock.json"), JSON.stringify(lock));
  rmSync(join(clone, "node_modules", ".sluice-installed"), { force: true });
}

/** Runs the installer and returns whether it called npm. */
function callsNpm(): boolean {
  const called = join(clone, "npm-was-called");
  rmSync(called, { force: true });
  const call = 'import("./scripts/install.mjs").then(({ install }) => install())';
  const done = Bun.spawnSync(["node", "-e", call], {
    cwd: clone,
    env: { PATH: `${join(clone, "path")}:${process.env["PATH"]}` },
  });
  expect(done.stderr.toString().replace("Installing the packages of package-lock.json …\n", "")).toBe("");
  expect(done.exitCode).toBe(0);
  return existsSync(called);
}

test("does not install again after `npm ci`", () => {
  writeInstalled();
  expect(callsNpm()).toBe(false);
  expect(callsNpm()).toBe(false);
});

test("installs if a package is missing or has another version", () => {
  writeInstalled((packages) => {
    packages["node_modules/zod"] = { ...packages["node_modules/zod"], version: "0.0.1" };
  });
  expect(callsNpm()).toBe(true);
  writeInstalled((packages) => {
    delete packages["node_modules/zod"];
  });
  expect(callsNpm()).toBe(true);
});

test("completes an installation that npm did not finish", () => {
  rmSync(join(clone, "node_modules", ".package-lock.json"), { force: true });
  rmSync(join(clone, "node_modules", ".sluice-installed"), { force: true });
  expect(callsNpm()).toBe(true);
});

test("runs the runtime's install script after a manual `npm ci`, which runs no scripts", () => {
  setRuntime(false);
  writeInstalled();
  expect(callsNpm()).toBe(false);
  expect(existsSync(join(clone, "node_modules", ".bin", "bun"))).toBe(true);
});

/** npm reads the .npmrc of the folder that it installs into; the repository's applies to its workspaces too. */
const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly workspaces: string[];
};
const installedFolders = readdirSync(root, { withFileTypes: true })
  .filter((each) => each.isDirectory() && existsSync(join(root, each.name, "package.json")))
  .map(({ name }) => name)
  .filter((name) => !workspaces.includes(name));

test.each([".", ...installedFolders])("npm runs no install scripts in %s", (folder) => {
  const project = mkdtempSync(join(clone, "project-"));
  const dependency = mkdtempSync(join(clone, "dependency-"));
  const marker = join(project, "a-script-ran");
  const install = `node -e "require('fs').writeFileSync('${marker}', '')"`;
  const manifest = { name: "dependency", version: "1.0.0", scripts: { preinstall: install, postinstall: install } };
  writeFileSync(join(dependency, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", version: "1.0.0" }));
  cpSync(join(root, folder, ".npmrc"), join(project, ".npmrc"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: clone };
  const npm = (...words: string[]) => Bun.spawnSync(["npm", ...words], { cwd: project, env });
  expect(npm("pack", dependency).exitCode).toBe(0);
  expect(npm("install", "--offline", "./dependency-1.0.0.tgz").exitCode).toBe(0);
  expect([existsSync(join(project, "node_modules/dependency/package.json")), existsSync(marker)]).toEqual([
    true,
    false,
  ]);
});

test("every package.json belongs to the root, a workspace, or a folder that is tested above", () => {
  const { stdout } = Bun.spawnSync(["git", "ls-files", "package.json", "*/package.json"], { cwd: root });
  const folders = stdout
    .toString()
    .trim()
    .split("\n")
    .map((file) => file.replace(/\/?package\.json$/, ""));
  expect(folders.toSorted()).toEqual(["", ...workspaces, ...installedFolders].toSorted());
});

test("instructions to install a competitor for the benchmark disable install scripts", () => {
  const texts = ["bench/src/contenders/portkey.ts", "docs/performance.md"].map((file) =>
    readFileSync(join(root, file), "utf8"),
  );
  const commands = texts.flatMap((text) => text.match(/npm (?:ci|install|i) .*/g) ?? []);
  expect(commands.length).toBe(2);
  expect(commands.filter((command) => !command.includes(" --ignore-scripts "))).toEqual([]);
});
