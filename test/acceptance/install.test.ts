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

/** A clone in which `npm ci` was run, as far as the installer looks at it; an `npm` that only says that it was called. */
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

/** A runtime that starts, or one that its own step has yet to put in place. */
function runtime(isThere: boolean): void {
  const program = join(clone, "node_modules", ".bin", "bun");
  rmSync(program, { force: true });
  if (isThere) symlinkSync(process.execPath, program);
  const step = `require("node:fs").symlinkSync(${JSON.stringify(process.execPath)}, ${JSON.stringify(program)})`;
  writeFileSync(join(clone, "node_modules", "bun", "install.js"), step);
}
beforeEach(() => runtime(true));

/** What npm writes down about what it has installed; `change` may alter it. */
function installed(change: (packages: Record<string, { version?: string }>) => void = () => {}): void {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  delete lock.packages[""];
  change(lock.packages);
  writeFileSync(join(clone, "node_modules", ".package-lock.json"), JSON.stringify(lock));
  rmSync(join(clone, "node_modules", ".sluice-installed"), { force: true });
}

/** Whether the installer calls npm. */
function installs(): boolean {
  const called = join(clone, "npm-was-called");
  rmSync(called, { force: true });
  const call = 'import("./scripts/install.mjs").then(({ install }) => install())';
  const done = Bun.spawnSync(["node", "-e", call], {
    cwd: clone,
    env: { PATH: `${join(clone, "path")}:${process.env["PATH"]}` },
  });
  expect(done.stderr.toString().replace("Installing what package-lock.json names …\n", "")).toBe("");
  expect(done.exitCode).toBe(0);
  return existsSync(called);
}

test("what `npm ci` has installed is not installed again", () => {
  installed();
  expect(installs()).toBe(false);
  expect(installs()).toBe(false);
});

test("a package in another version, or not there, is", () => {
  installed((packages) => {
    packages["node_modules/zod"] = { ...packages["node_modules/zod"], version: "0.0.1" };
  });
  expect(installs()).toBe(true);
  installed((packages) => {
    delete packages["node_modules/zod"];
  });
  expect(installs()).toBe(true);
});

test("an installation that npm did not finish is made whole", () => {
  rmSync(join(clone, "node_modules", ".package-lock.json"), { force: true });
  rmSync(join(clone, "node_modules", ".sluice-installed"), { force: true });
  expect(installs()).toBe(true);
});

test("after an `npm ci` by hand, which runs no scripts, the runtime's own step puts it in place", () => {
  runtime(false);
  installed();
  expect(installs()).toBe(false);
  expect(existsSync(join(clone, "node_modules", ".bin", "bun"))).toBe(true);
});

/** npm reads the settings of the folder that it installs into; those of the repository hold for its workspaces too. */
const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly workspaces: string[];
};
const installedFolders = readdirSync(root, { withFileTypes: true })
  .filter((each) => each.isDirectory() && existsSync(join(root, each.name, "package.json")))
  .map(({ name }) => name)
  .filter((name) => !workspaces.includes(name));

test.each([".", ...installedFolders])("npm runs no script of a package in %s", (folder) => {
  const project = mkdtempSync(join(clone, "project-"));
  const stranger = mkdtempSync(join(clone, "stranger-"));
  const mark = join(project, "a-script-ran");
  const install = `node -e "require('fs').writeFileSync('${mark}', '')"`;
  const manifest = { name: "stranger", version: "1.0.0", scripts: { preinstall: install, postinstall: install } };
  writeFileSync(join(stranger, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", version: "1.0.0" }));
  cpSync(join(root, folder, ".npmrc"), join(project, ".npmrc"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: clone };
  const npm = (...words: string[]) => Bun.spawnSync(["npm", ...words], { cwd: project, env });
  expect(npm("pack", stranger).exitCode).toBe(0);
  expect(npm("install", "--offline", "./stranger-1.0.0.tgz").exitCode).toBe(0);
  expect([existsSync(join(project, "node_modules/stranger/package.json")), existsSync(mark)]).toEqual([true, false]);
});

test("every package.json is at the top, of a workspace, or one that was tried", () => {
  const { stdout } = Bun.spawnSync(["git", "ls-files", "package.json", "*/package.json"], { cwd: root });
  const folders = stdout
    .toString()
    .trim()
    .split("\n")
    .map((file) => file.replace(/\/?package\.json$/, ""));
  expect(folders.toSorted()).toEqual(["", ...workspaces, ...installedFolders].toSorted());
});

test("whoever is told to install a peer of the bench is told to run no scripts", () => {
  const texts = ["bench/src/contenders/portkey.ts", "docs/performance.md"].map((file) =>
    readFileSync(join(root, file), "utf8"),
  );
  const commands = texts.flatMap((text) => text.match(/npm (?:ci|install|i) .*/g) ?? []);
  expect(commands.length).toBe(2);
  expect(commands.filter((command) => !command.includes(" --ignore-scripts "))).toEqual([]);
});
