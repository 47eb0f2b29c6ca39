#!/usr/bin/env node
// The command line of the npm package, `sluice-gateway` or `sluice`. build-package.mjs copies it to bin/sluice.mjs.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runGateway } from "./run-gateway.mjs";

const parent = process.ppid;
const here = dirname(fileURLToPath(import.meta.url));
const { optionalDependencies } = JSON.parse(readFileSync(join(here, "..", "package.json"), "utf8"));
const runtime = findRuntime();
if (runtime === null) {
  console.error(
    `sluice: the runtime for ${process.platform} on ${process.arch} is missing. npm installs it as one of the ` +
      `optional dependencies (${Object.keys(optionalDependencies).join(", ")}): install again without --omit=optional.`,
  );
  process.exit(1);
}
runGateway({
  runtime,
  program: join(here, "..", "lib", "cli.js"),
  words: process.argv.slice(2),
  environment: JSON.parse(readFileSync(join(here, "runtime-environment.json"), "utf8")),
  npm: process.env.npm_command === "exec" ? parent : null,
});

/** npm installs only the runtime for this machine. If another tool installed several, the first that fits is used. */
function findRuntime() {
  const { resolve } = createRequire(import.meta.url);
  const system = process.platform === "win32" ? "windows" : process.platform;
  const processor = process.arch === "arm64" ? "aarch64" : process.arch;
  const names = [`@oven/bun-${system}-${processor}`, `@oven/bun-${system}-${processor}-musl`];
  // Node reports the version of glibc; on musl the field is missing.
  const isMusl = system === "linux" && process.report?.getReport().header.glibcVersionRuntime === undefined;
  for (const name of isMusl ? names.reverse() : names) {
    try {
      const file = join(dirname(resolve(`${name}/package.json`)), "bin", system === "windows" ? "bun.exe" : "bun");
      if (existsSync(file)) return file;
    } catch {
      // Not installed.
    }
  }
  return null;
}
