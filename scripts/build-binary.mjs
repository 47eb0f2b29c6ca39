// `npm run build:binary`: builds the gateway as one executable, for this machine or for the given platforms.
//   npm run build:binary -- [--out <folder>] [--no-bytecode] [--define <name>=<value>] [all | <platform> …]
// Runtimes for other platforms come from the npm registry. Without bytecode the build takes a second, but the program starts more slowly.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { buildOptions, entriesOf, makeStatic, revisionOptions, writeNotices } from "./built-program.mjs";
import { bun, bunEnvironment, root } from "./install.mjs";

const platforms = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
  "windows-arm64",
];
const thisPlatform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: join(root, "dist", "binaries") },
    "no-bytecode": { type: "boolean" },
    define: { type: "string" },
  },
});
const wanted = positionals.includes("all") ? platforms : positionals.length > 0 ? positionals : [thisPlatform];
for (const platform of wanted.filter((name) => !platforms.includes(name)))
  fail(`unknown platform ${platform}; use "all" or one of ${platforms.join(", ")}`);
const out = resolve(values.out);
const stage = mkdtempSync(join(tmpdir(), "sluice-build-"));
process.on("exit", () => rmSync(stage, { recursive: true, force: true }));

try {
  makeStatic(stage);
  mkdirSync(out, { recursive: true });
  for (const platform of wanted) build(platform);
  writeNotices(join(out, "THIRD-PARTY-NOTICES.txt"));
  await writeSums();
} catch (thrown) {
  fail(thrown.message);
}

function build(platform) {
  const file = join(out, `sluice-${platform}${platform.startsWith("windows") ? ".exe" : ""}`);
  console.error(`Building ${file} …`);
  const done = spawnSync(
    bun,
    [
      ...["build", "--compile", `--target=bun-${platform}`, `--outfile=${file}`, "--asset=static"],
      // The executable must not load a .env or bunfig.toml from the folder where it happens to start.
      ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
      ...(values["no-bytecode"] ? [] : ["--bytecode"]),
      // Tests build an executable with cheap password hashes.
      ...(values.define === undefined ? [] : [`--define=${values.define}`]),
      ...buildOptions,
      ...revisionOptions(),
      ...entriesOf("executable.ts"),
    ],
    // Assets are embedded under their path relative to this folder.
    { cwd: stage, stdio: ["ignore", "ignore", "inherit"], env: { ...bunEnvironment, ...process.env } },
  );
  if (done.status !== 0) throw new Error(`could not build the executable for ${platform}`);
}

/** Writes the format that `sha256sum --check` reads. */
async function writeSums() {
  const names = readdirSync(out)
    .filter((name) => name.startsWith("sluice-"))
    .sort();
  const lines = [];
  for (const name of names) {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(out, name)), hash);
    lines.push(`${hash.digest("hex")}  ${name}\n`);
  }
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
}

function fail(why) {
  console.error(`sluice: ${why}`);
  process.exit(1);
}
