// `npm test`: installs, type-checks, lints, runs every test, and ends with `N passed, N failed`.
// `npm run ok` (--quick): types, lint, borders, unit and conformance, without the acceptance suites.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureBrowser } from "./browser.mjs";
import { buildConsole } from "./build-console.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";

install();
const quick = process.argv.includes("--quick");
const env = { ...process.env, ...bunEnvironment, CI: process.env.CI ?? "", NO_COLOR: "1" };
const tally = { passed: 0, failed: 0, skipped: 0 };

check("types", bin("tsc"), ["-p", "tsconfig.json"]);
if (existsSync(join(root, "console", "tsconfig.json")))
  check("console types", bin("tsc"), ["-p", "console/tsconfig.json"]);
check("lint and format", bin("biome"), ["check", "--error-on-warnings", "."]);
suite("unit, conformance, borders", ["contract", "gateway", "simulator", "bench", "console/src"]);
if (!quick) {
  check("console build", process.execPath, ["-e", ""], buildConsole);
  suite("acceptance", ["test"]);
  ensureBrowser();
  suite("the console in a browser", ["console/e2e"]);
}

const line = `${tally.passed} passed, ${tally.failed} failed${tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""}`;
console.log(`\n${line}`);
process.exit(tally.failed === 0 ? 0 : 1);

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

/** A step that is one check: it passes or it fails. */
function check(name, command, args, act) {
  const ok = act === undefined ? spawnSync(command, args, { cwd: root, env, stdio: "inherit" }).status === 0 : act();
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (ok) tally.passed++;
  else tally.failed++;
}

/** A step of many tests: the runner's own totals are added up; a runner that dies counts as a failure. */
function suite(name, folders) {
  console.log(`\n== ${name}`);
  const done = spawnSync(
    bun,
    ["--no-env-file", "test", "--timeout", "120000", ...folders.map((folder) => `./${folder}/`)],
    {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "pipe"],
      maxBuffer: 256 * 1024 * 1024,
      encoding: "utf8",
    },
  );
  process.stdout.write(done.stderr);
  const total = (word) => Number(done.stderr.match(new RegExp(`^\\s*(\\d+) ${word}$`, "m"))?.[1] ?? 0);
  const failed = total("fail") + total("error") + total("errors");
  tally.passed += total("pass");
  tally.skipped += total("skip");
  tally.failed += failed > 0 ? failed : done.status === 0 ? 0 : 1;
}
