// Makes node_modules agree with the lockfile. Runs on plain Node, before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const bun = join(root, "node_modules", ".bin", process.platform === "win32" ? "bun.exe" : "bun");

/**
 * What the runtime reads when a process starts: more than 256 upstream calls at once; and a collector that leaves the event
 * loop six tenths of the time while it works. By default it leaves nothing once memory grows fast meanwhile, as it does when
 * a body of many megabytes arrives: then a whole collection, 20 to 40 ms, is one stop.
 */
export const bunEnvironment = JSON.parse(readFileSync(new URL("runtime-environment.json", import.meta.url), "utf8"));

export function install() {
  const stampFile = join(root, "node_modules", ".sluice-installed");
  const stamp = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp && existsSync(bun)) return;
  if (isInstalled()) {
    writeFileSync(stampFile, stamp);
    return;
  }
  console.error("Installing what package-lock.json names …");
  const done = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (done.status !== 0) {
    console.error("sluice: `npm ci` failed; see above.");
    process.exit(1);
  }
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

/**
 * Whether somebody else (`npm ci`) has installed what the lockfile names. npm writes down what it installed when it is done;
 * packages for other platforms are not there. Whether the runtime's own program was fetched shows only when it is run.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const found = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === null || found === null) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.includes("node_modules/")) continue;
    const there = found[path];
    if (there === undefined ? !entry.optional : !isSame(entry, there)) return false;
  }
  return spawnSync(bun, ["--version"], { stdio: "ignore", timeout: 30_000 }).status === 0;
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
