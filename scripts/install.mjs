// Installs what the lockfile lists. Runs on plain Node, before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const bun = join(root, "node_modules", ".bin", process.platform === "win32" ? "bun.exe" : "bun");

/**
 * Environment of every process that we start with Bun: more than 256 concurrent upstream calls; a garbage collector that leaves
 * the event loop six tenths of the time while it works, and rarely collects on its timer; and machine code that is compiled after
 * half as many runs. By default, fast memory growth, such as from a body of many megabytes, makes a full collection one pause
 * of 20 to 40 ms, and the collector's timer takes a twentieth of a busy loop for collections that the heap does not need yet.
 */
export const bunEnvironment = JSON.parse(readFileSync(new URL("runtime-environment.json", import.meta.url), "utf8"));

/** Install scripts are disabled (.npmrc), except the runtime's: it puts the executable for this machine in place. */
const runtimeInstaller = join(root, "node_modules", "bun", "install.js");

export function install() {
  const stampFile = join(root, "node_modules", ".sluice-installed");
  const stamp = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp && existsSync(bun)) return;
  if (!isInstalled()) {
    console.error("Installing the packages of package-lock.json …");
    const ci = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    run("`npm ci`", "npm", ci, { cwd: root, shell: process.platform === "win32" });
  }
  if (!runtimeStarts()) {
    run("the runtime's own installation", process.execPath, [runtimeInstaller], { cwd: dirname(runtimeInstaller) });
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
 * Whether the packages of the lockfile are already installed, for example by `npm ci`. npm records what it installed; packages
 * for other platforms are missing from that record.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const found = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === null || found === null) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    const installed = found[path];
    if (!path.includes("node_modules/")) return true;
    return installed === undefined ? entry.optional === true : isSame(entry, installed);
  });
}

function isSame(entry, installed) {
  return (
    entry.version === installed.version && entry.integrity === installed.integrity && entry.link === installed.link
  );
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? null;
  } catch {
    return null;
  }
}
