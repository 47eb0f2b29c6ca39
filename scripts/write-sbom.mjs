// `node scripts/write-sbom.mjs <folder>`: writes the bill of materials of the executables, the image and the npm package, as
// sluice.cyclonedx.json and sluice.spdx.json. npm writes both for the whole lockfile; this script keeps the shipped packages. They
// include the packages of the console's page, which its manifest lists as development dependencies.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shippedPackages } from "./built-program.mjs";
import { root } from "./install.mjs";

const [folder] = process.argv.slice(2);
if (folder === undefined) fail("a folder is required");
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const paths = ["node_modules/bun", "node_modules/swagger-ui-dist", ...shippedPackages(packages)];
const shipped = new Set(paths.map((path) => `${nameOf(path)}@${packages[path].version}`));
write("sluice.cyclonedx.json", cyclonedx(npmSbom("cyclonedx")));
write("sluice.spdx.json", spdx(npmSbom("spdx")));

function cyclonedx(bill) {
  const components = onceEach(bill.components, ({ name, version }) => `${name}@${version}`);
  // npm marks the console's packages as optional, but they are part of what is shipped.
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
  const selected = [...own, ...onceEach(others, ({ name, versionInfo }) => `${name}@${versionInfo}`)];
  const ids = new Set([bill.SPDXID, ...selected.map(({ SPDXID }) => SPDXID)]);
  const relationships = bill.relationships.filter(
    ({ spdxElementId, relatedSpdxElement }) => ids.has(spdxElementId) && ids.has(relatedSpdxElement),
  );
  return { ...bill, packages: selected, relationships };
}

/** Keeps one entry for each shipped package. Fails if npm's list lacks one. */
function onceEach(all, keyOf) {
  const found = new Map(all.map((one) => [keyOf(one), one]).reverse());
  const missing = [...shipped].filter((key) => !found.has(key));
  if (missing.length > 0) fail(`npm's list lacks ${missing.join(", ")}`);
  return [...shipped].sort().map((key) => found.get(key));
}

function npmSbom(format) {
  const done = spawnSync("npm", ["sbom", "--package-lock-only", `--sbom-format=${format}`], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
  if (done.status !== 0) fail("npm could not create the list of packages");
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
