// Renders deploy/chart into deploy/manifests/sluice.yaml with Helm 3 or 4. Its first line holds a digest of what it was made
// from, so that a test without Helm sees whether it is of today's chart.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const values = join(folder, "manifests", "values.yaml");
const target = join(folder, "manifests", "sluice.yaml");

/** SHA-256 over the chart's files and the values, names included. */
export function digestOfChart() {
  const hash = createHash("sha256");
  const names = readdirSync(join(folder, "chart"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.yaml"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [...names, values]) {
    hash.update(file.slice(folder.length).replaceAll("\\", "/")).update("\0").update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

/** The whole text of sluice.yaml; throws with Helm's message. */
export function rendered() {
  const words = ["template", "sluice", join(folder, "chart"), "--namespace", "sluice", "--values", values];
  // A Helm that was built without its makefile believes in a Kubernetes of long ago.
  words.push("--kube-version", "1.31.0");
  const done = spawnSync("helm", words, { encoding: "utf8", timeout: 60_000 });
  if (done.error !== undefined) throw done.error;
  if (done.status !== 0) throw new Error(done.stderr.trim());
  return `# Made by deploy/render-manifests.mjs from deploy/chart; do not edit. Chart: ${digestOfChart()}\n${done.stdout}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(target, rendered());
  console.log(`${target} is written.`);
}
