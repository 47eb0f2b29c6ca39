// `node scripts/write-sbom.mjs <folder>`: what is inside the executables, the image and the npm package, as sluice.cyclonedx.json and
// sluice.spdx.json. npm writes both of the whole lockfile; kept are the packages of which something is shipped. Those of the
// console's page are among them, though to npm they are there for its build alone.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shippedPackages } from "./built-program.mjs";
import { root } from "./install.mjs";

const [folder] = process.argv.slice(2);
if (folder === undefined) fail("a folder is missing");
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const paths = ["node_modules/bun", "node_modules/swagger-ui-dist", ...shippedPackages(packages)];
const shipped = new Set(paths.map((path) => `${nameOf(path)}@${packages[path].version}`));
write("sluice.cyclonedx.json", cyclonedx(told("cyclonedx")));
write("sluice.spdx.json", spdx(told("spdx")));

function cyclonedx(bill) {
  const components = onceEach(bill.components, ({ name, version }) => `${name}@${version}`);
  // Nobody installs it: it is in there.
  for (const component of components) component.scope = "required";
  const refs = new Set([bill.metadata.component["bom-ref"], ...components.map((component) => component["bom-ref"])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter((ref) => refs.has(ref)) }));
  return { ...bill, components, dependencies };
}

function spdx(bill) {
  const described = new Set(bill.documentDescribes);
  const own = bill.packages.filter(({ SPDXID }) => described.has(SPDXID));
  const others = bill.packages.filter(({ SPDXID }) => !described.has(SPDXID));
  const kept = [...own, ...onceEach(others, ({ name, versionInfo }) => `${name}@${versionInfo}`)];
  const ids = new Set([bill.SPDXID, ...kept.map(({ SPDXID }) => SPDXID)]);
  const relationships = bill.relationships.filter(
    ({ spdxElementId, relatedSpdxElement }) => ids.has(spdxElementId) && ids.has(relatedSpdxElement),
  );
  return { ...bill, packages: kept, relationships };
}

/** Of those that are shipped the first of each; the build fails where one is not told of. */
function onceEach(all, keyOf) {
  const found = new Map(all.map((one) => [keyOf(one), one]).reverse());
  const missing = [...shipped].filter((key) => !found.has(key));
  if (missing.length > 0) fail(`npm does not tell of ${missing.join(", ")}`);
  return [...shipped].sort().map((key) => found.get(key));
}

function told(format) {
  const done = spawnSync("npm", ["sbom", "--package-lock-only", `--sbom-format=${format}`], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
  if (done.status !== 0) fail("npm could not say what is inside");
  return JSON.parse(done.stdout);
}

function nameOf(path) {
  return packages[path].name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function write(name, bill) {
  writeFileSync(join(folder, name), `${JSON.stringify(bill, null, 2)}\n`);
}

function fail(why) {
  console.error(`sluice: ${why}`);
  process.exit(1);
}
