import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { bareEnvironment } from "../bare-environment.ts";
import { buildInFolder } from "./built-program.ts";

/** As published on npm. `npm run check:package` also installs it from the registry, which the tests do not use. */
let built: Awaited<ReturnType<typeof buildInFolder>>;
let tarball: string;
let unpacked: string;
beforeAll(async () => {
  built = await buildInFolder("build-package.mjs");
  tarball = join(built.folder, `sluice-gateway-${manifest.version}.tgz`);
  mkdirSync(join(built.folder, "unpacked"));
  await run(["tar", "-xzf", tarball, "-C", join(built.folder, "unpacked")]);
  unpacked = join(built.folder, "unpacked", "package");
});
afterAll(() => built?.remove());

async function run(
  cmd: string[],
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const child = Bun.spawn(cmd, { env: bareEnvironment(), cwd: built.folder, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}

test("the package contains the program, its threads, the console and the licenses, and no test or build files", async () => {
  const { stdout } = await run(["tar", "-tzf", tarball]);
  const names = stdout.trim().split("\n");
  for (const name of [
    ...[
      "README.md",
      "LICENSE",
      "THIRD-PARTY-NOTICES.txt",
      "CHANGELOG.md",
      "package.json",
      "bin/sluice.mjs",
      "lib/cli.js",
    ],
    ...["body", "drain", "report", "check", "explain"].map((thread) => `lib/${thread}-worker.js`),
    ...["lib/static/console/index.html", "lib/static/docs/swagger-ui-bundle.js"],
  ])
    expect(names).toContain(`package/${name}`);
  expect(names.filter((name) => /\.(?:test\.|tsx?$|map$)|node_modules|\.built-from/.test(name))).toEqual([]);
  expect(statSync(tarball).size).toBeLessThan(5_000_000);
  expect(statSync(join(unpacked, "bin", "sluice.mjs")).mode & 0o111).toBe(0o111);
});

test("its manifest names the commands, the license, the oldest Node version, and the tested runtime for each platform", () => {
  const packageJson = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  expect(packageJson).toMatchObject({
    name: "sluice-gateway",
    version: manifest.version,
    license: "Apache-2.0",
    engines: manifest.engines,
    bin: { "sluice-gateway": "bin/sluice.mjs", sluice: "bin/sluice.mjs" },
  });
  for (const member of ["dependencies", "devDependencies", "scripts", "private"])
    expect(packageJson).not.toHaveProperty(member);
  const runtimes = Object.entries<string>(packageJson.optionalDependencies);
  expect(runtimes).toHaveLength(8);
  for (const [name, version] of runtimes)
    expect([name, version]).toEqual([expect.stringMatching(/^@oven\/bun-/), Bun.version]);
});

test("its command prints what is missing without a runtime, and runs with one", async () => {
  const command = ["node", join(unpacked, "bin", "sluice.mjs"), "--version"];
  const without = await run(command);
  expect([without.status, without.stdout]).toEqual([1, ""]);
  expect(without.stderr).toContain("install again without --omit=optional");
  expect(without.stderr.trim().split("\n")).toHaveLength(1);
  const system = process.platform === "win32" ? "windows" : process.platform;
  const processor = process.arch === "arm64" ? "aarch64" : process.arch;
  const runtime = join(unpacked, "node_modules", "@oven", `bun-${system}-${processor}`);
  mkdirSync(join(runtime, "bin"), { recursive: true });
  writeFileSync(join(runtime, "package.json"), "{}");
  symlinkSync(process.execPath, join(runtime, "bin", system === "windows" ? "bun.exe" : "bun"));
  const { gitHead } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  const version = await run([...command.slice(0, 2), "version", "--json"]);
  expect(version).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(version.stdout)).toMatchObject({ version: manifest.version, revision: gitHead ?? "unknown" });
});
