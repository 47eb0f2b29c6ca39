// `npm run build:package`: the gateway as the npm package `sluice-gateway`, in dist/package and as a tarball beside it.
// The program is built as for the executable, so the package depends on the runtime alone.
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
  run("the program could not be built", bun, [
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
  run("npm could not pack it", "npm", ["pack", folder, `--pack-destination=${out}`, "--loglevel=error"]);
} catch (thrown) {
  console.error(`sluice: ${thrown.message}`);
  process.exit(1);
}

function packageManifest() {
  const { version, description, license, engines } = manifest;
  const { revision } = builtFrom();
  // Where npm has to find the workflow that publishes it, to vouch for that.
  const repository = process.env.GITHUB_REPOSITORY;
  return {
    name: "sluice-gateway",
    version,
    description,
    license,
    // As npm itself writes it for a package that is published from its checkout.
    ...(revision === "unknown" ? {} : { gitHead: revision }),
    ...(repository === undefined
      ? {}
      : { repository: { type: "git", url: `git+https://github.com/${repository}.git` } }),
    keywords: ["llm", "gateway", "proxy", "openai", "anthropic", "gemini"],
    type: "module",
    engines,
    bin: { "sluice-gateway": "bin/sluice.mjs", sluice: "bin/sluice.mjs" },
    files: ["bin", "lib", "CHANGELOG.md", "THIRD-PARTY-NOTICES.txt"],
    // The package `bun` would fetch the same by a script when it is installed, which npm does not run for others' packages.
    optionalDependencies: runtimes(),
  };
}

/** The runtime for each platform that executables are built for, in the version that is tested here. */
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
