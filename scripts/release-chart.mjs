// node scripts/release-chart.mjs <folder> <owner/repository>: writes the Helm chart of a release, with what only a release
// knows: the chart's home page, the image's repository, and the links of the alerts. Needs no packages.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, repository = ""] = process.argv.slice(2);
if (folder === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
  console.error("sluice: a folder and a repository are required, such as dist/chart acme/sluice");
  process.exit(2);
}
const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const home = `https://github.com/${repository}`;
rmSync(folder, { recursive: true, force: true });
cpSync(join(root, "deploy", "chart"), folder, { recursive: true });
edit(
  "Chart.yaml",
  /^# A release adds .*$/m,
  `home: ${home}\nsources: [${home}]\nicon: https://raw.githubusercontent.com/${repository}/v${version}/console/src/mark.svg`,
);
edit("values.yaml", /^ {2}repository: sluice$/m, `  repository: ghcr.io/${repository.toLowerCase()}`);
edit(
  "monitoring/alerts.yaml",
  /https:\/\/sluice\.example\/docs\/operations\/prometheus-alerts\.md#/g,
  `${home}/blob/v${version}/docs/operations/prometheus-alerts.md#`,
);
console.log(`Wrote the chart ${version} of ${home} to ${folder}.`);

function edit(name, before, after) {
  const file = join(folder, name);
  const text = readFileSync(file, "utf8");
  if (!before.test(text)) throw new Error(`${name} has no line ${before}`);
  writeFileSync(
    file,
    text.replace(before, () => after),
  );
}
