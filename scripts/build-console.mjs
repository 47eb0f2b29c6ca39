// Builds the console if its sources changed since the last build. Run as a program, it exits with 1 if the build fails.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bun, root } from "./install.mjs";

export function buildConsole() {
  const stampFile = join(root, "console", "dist", ".built-from");
  const stamp = digestOf([join(root, "console"), join(root, "contract", "src"), join(root, "docs", "clients")]);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return true;
  console.error("Building the console …");
  const done = spawnSync(bun, ["--bun", "run", "build"], {
    cwd: join(root, "console"),
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (done.status !== 0) return false;
  writeFileSync(stampFile, stamp);
  return true;
}

/** A digest of all files in these folders. */
export function digestOf(folders) {
  const hash = createHash("sha256");
  for (const folder of folders) for (const file of filesOf(folder)) hash.update(file).update(readFileSync(file));
  return hash.digest("hex");
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== "dist" && entry.name !== "node_modules")
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(buildConsole() ? 0 : 1);
