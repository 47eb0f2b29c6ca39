// `npm run build:package`: builds the npm package `sluice-gateway` in dist/package, and packs it into a tarball in dist.
// The program is bundled like the executable, so the runtime is the package's only dependency.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  buildOptions,
  builtFrom,
  entriesOf,
  makeStatic,
  manifest,
  revisionOptions,
  writeNotices,
} from "./built-program.mjs";
import { bun, bunEnvironment, root } from "./install.mjs";

const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } });
const out = resolve(values.out);
const folder = join(out, "package");
rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "bin"), { recursive: true });

try {
  makeStatic(join(folder, "lib"));
  run("could not build the program", bun, [
    ...["build", "--target=bun", `--outdir=${join(folder, "lib")}`],
    ...buildOptions,
    ...revisionOptions(),
    ...entriesOf("cli.ts"),
  ]);
  copyFileSync(join(root, "scripts", "package-start.mjs"), join(folder, "bin", "sluice.mjs"));
  chmodSync(join(folder, "bin", "sluice.mjs"), 0o755);
  for (const name of ["run-gateway.mjs", "runtime-environment.json"])
    copyFileSync(join(root, "scripts", name), join(folder, "bin", name));
  for (const name of ["LICENSE", "CHANGELOG.md"]) copyFileSync(join(root, name), join(folder, name));
  copyFileSync(join(root, "deploy", "package.md"), join(folder, "README.md"));
  writeNotices(join(folder, "THIRD-PARTY-NOTICES.txt"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(packageManifest(), null, 2)}\n`);
  for (const name of readdirSync(out).filter((name) => /^sluice-gateway-.*\.tgz$/.test(name))) rmSync(join(out, name));
  run("npm could not pack the package", "npm", ["pack", folder, `--pack-destination=${out}`, "--loglevel=error"]);
} catch (thrown) {
  console.error(`sluice: ${thrown.message}`);
  process.exit(1);
}

function packageManifest() {
  const { version, description, license, engines } = manifest;
  const { revision } = builtFrom();
  // npm's provenance check requires the repository of the workflow that publishes the package.
  const repository = process.env.GITHUB_REPOSITORY;
  return {
    name: "sluice-gateway",
    version,
    description,
    license,
    // npm adds this field itself when it publishes from a checkout.
    ...(revision === "unknown" ? {} : { gitHead: revision }),
    ...(repository === undefined
      ? {}
      : { repository: { type: "git", url: `git+https://github.com/${repository}.git` } }),
    keywords: ["llm", "gateway", "proxy", "openai", "anthropic", "gemini"],
    type: "module",
    engines,
    bin: { "sluice-gateway": "bin/sluice.mjs", sluice: "bin/sluice.mjs" },
    files: ["bin", "lib", "CHANGELOG.md", "THIRD-PARTY-NOTICES.txt"],
    // The package `bun` downloads these in an install script, and npm does not run install scripts of dependencies everywhere.
    optionalDependencies: runtimes(),
  };
}

/** The runtime for each platform that we build executables for, in the version that the tests use. */
function runtimes() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const all = Object.entries(packages["node_modules/bun"].optionalDependencies);
  return Object.fromEntries(all.filter(([name]) => /-(linux|darwin|windows)-(x64|aarch64)(-musl)?$/.test(name)));
}

function run(problem, program, words) {
  const done = spawnSync(program, words, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...bunEnvironment, ...process.env },
    shell: process.platform === "win32" && program === "npm",
  });
  if (done.status !== 0) throw new Error(problem);
}
