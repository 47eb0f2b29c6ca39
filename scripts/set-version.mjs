// node scripts/set-version.mjs <version>: sets the version in package.json and everywhere else it is written.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
  console.error("sluice: a version is required, such as 1.2.0 or 1.2.0-rc.1");
  process.exit(1);
}
const { workspaces, version: before } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folders = ["", ...workspaces];
for (const folder of folders) change(join(folder, "package.json"), (manifest) => Object.assign(manifest, { version }));
change("package-lock.json", (lock) => {
  lock.version = version;
  for (const folder of folders) lock.packages[folder].version = version;
});
const chart = join(root, "deploy", "chart", "Chart.yaml");
writeFileSync(chart, readFileSync(chart, "utf8").replaceAll(before, version));
console.log(`${before} → ${version}; now render the manifests again: node deploy/render-manifests.mjs`);

function change(name, edit) {
  const file = join(root, name);
  const value = JSON.parse(readFileSync(file, "utf8"));
  edit(value);
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
