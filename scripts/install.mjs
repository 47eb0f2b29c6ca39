// Makes node_modules agree with the lockfile. Runs on plain Node, before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const bun = join(root, "node_modules", ".bin", process.platform === "win32" ? "bun.exe" : "bun");

/**
 * What the runtime reads when a process starts: more than 256 upstream calls at once; a collector that leaves the event
 * loop six tenths of the time while it works, and hardly ever collects by its timer; and code that is compiled well after half
 * as many runs. By default the collector leaves nothing once memory grows fast meanwhile, as it does when a body of many megabytes
 * arrives: then a whole collection, 20 to 40 ms, is one stop. And by default its timer takes a twentieth of a busy loop for
 * collections that the heap does not need yet.
 */
export const bunEnvironment = JSON.parse(readFileSync(new URL("runtime-environment.json", import.meta.url), "utf8"));

/** Scripts of packages do not run (.npmrc). The runtime's alone is run, by name: it puts the program for this machine in place. */
const runtimeStep = join(root, "node_modules", "bun", "install.js");

export function install() {
  const stampFile = join(root, "node_modules", ".sluice-installed");
  const stamp = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp && existsSync(bun)) return;
  if (!isInstalled()) {
    console.error("Installing what package-lock.json names …");
    const ci = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    run("`npm ci`", "npm", ci, { cwd: root, shell: process.platform === "win32" });
  }
  if (!runtimeStarts()) {
    run("the runtime's own installation", process.execPath, [runtimeStep], { cwd: dirname(runtimeStep) });
    if (!runtimeStarts()) {
      console.error(`sluice: the runtime does not start: ${bun}`);
      process.exit(1);
    }
  }
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

function run(what, program, words, options) {
  const done = spawnSync(program, words, { ...options, stdio: ["ignore", "ignore", "inherit"] });
  if (done.status === 0) return;
  console.error(`sluice: ${what} failed; see above.`);
  process.exit(1);
}

function runtimeStarts() {
  return spawnSync(bun, ["--version"], { stdio: "ignore", timeout: 30_000 }).status === 0;
}

/**
 * Whether somebody else (`npm ci`) has installed what the lockfile names. npm writes down what it installed when it is done;
 * packages for other platforms are not there.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const found = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === null || found === null) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    const there = found[path];
    if (!path.includes("node_modules/")) return true;
    return there === undefined ? entry.optional === true : isSame(entry, there);
  });
}

function isSame(entry, there) {
  return entry.version === there.version && entry.integrity === there.integrity && entry.link === there.link;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? null;
  } catch {
    return null;
  }
}
