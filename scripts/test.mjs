// `npm test`: installs, type-checks, lints, checks for dead code, runs every test, and ends with `N passed, N failed`.
// `npm run ok` (--quick): types, lint, dead code, repository checks, and the unit tests beside the source; about a minute.
// `npm test -- PATH …`: only the tests in these files and folders, with programs started from source.
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { makeBundles } from "./bundles.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";
import { ensurePostgres, startPostgres } from "./postgres.mjs";
import { SuiteOutput } from "./suite-output.mjs";
import { ensureBrowser, ensureProxyAndPromtool, ensureRedis, unpackedPrograms } from "./test-programs.mjs";
import { openTestRun } from "./test-run.mjs";

install();
const quick = process.argv.includes("--quick");
const updateTimings = process.argv.includes("--update-timings");
const pathArguments = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const paths = pathArguments.map((path) => relative(root, resolve(root, path)));
const missing = paths.filter((path) => !existsSync(join(root, path)));
if (missing.length > 0) {
  console.error(
    `sluice: not found: ${missing.join(", ")}; give paths of files and folders relative to the repository.`,
  );
  process.exit(2);
}
const tally = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
ensurePostgres();
ensureRedis();
ensureProxyAndPromtool();
if (!quick) ensureBrowser();
// All test processes share one server; each creates its own databases.
const postgres = quick ? noPostgres("`npm run ok` does not use it") : await startPostgres();
if (postgres.url === null) console.log(`The tests on PostgreSQL are skipped: ${postgres.why}.`);
const run = openTestRun({
  ...process.env,
  ...bunEnvironment,
  // The runner opens and closes several gateways per second, so freed memory is soon needed again.
  MIMALLOC_PURGE_DELAY: "20000",
  // The type checker is written in Go and ends before it needs the memory that a collection would free, so collecting only costs a
  // sixth of its processor time. It needs 2.1 GB; with a limit close to that, the collector would run all the time.
  GOGC: "off",
  GOMEMLIMIT: "3GiB",
  // The last compilation stage pays off after minutes of running; in tests it costs 10 to 20 percent of the processor time.
  BUN_JSC_useFTLJIT: "0",
  // The stage before it starts later than in production, which saves another tenth.
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "5000",
  CI: process.env.CI ?? "",
  NO_COLOR: "1",
  TEST_POSTGRES: postgres.url ?? `none: ${postgres.why}`,
});

// Finds unused files, exports and dependencies, and dependencies that no package.json declares. See knip.json.
const knip = join(root, "node_modules", "knip", "bin", "knip.js");
const consoleBuild = ["console build", process.execPath, [join(root, "scripts", "build-console.mjs")]];
const wholeTree = [
  // One core each: checkers in parallel repeat each other's work, about half as much again for two cores.
  ["types", bin("tsc"), ["-p", "tsconfig.json", "--checkers", "1"]],
  ["lint and format", bin("biome"), ["check", "--error-on-warnings", "."]],
  ["console types", bin("tsc"), ["-p", "console/tsconfig.json", "--checkers", "1"]],
  ["dead code", bun, [knip, "--no-progress"]],
];
const unit = ["contract", "gateway", "simulator", "bench", "console/src"];
if (paths.length > 0) {
  if (paths.some((path) => path.startsWith("console"))) await checks([consoleBuild]);
  await suite("these tests", 2, paths);
} else if (quick) {
  const repositoryChecks = ["modules", "phrases", "kind-words", "documents", "lockfile"];
  const files = repositoryChecks.map((name) => `gateway/test/${name}.test.ts`);
  const beside = ["contract", "simulator", "bench", "console/src", "gateway/src"];
  await Promise.all([checks(wholeTree), suite("unit tests and repository checks", 2, [...beside, ...files])]);
} else {
  // The checks start now: they need neither the console nor the programs, and building those leaves part of the processor idle.
  const checked = checks(wholeTree);
  // Before the executable, which contains the console and would build it a second time.
  await checks([consoleBuild]);
  count("test programs", await makeBundles(run));
  // One queue, slow files first: tests that wait for processes and browsers leave the processor to the others and to the checks.
  // Every process loads and compiles the same modules again; six processes take a seventh more processor time than three.
  await Promise.all([checked, suite("all tests, and the console in a browser", 5, [...unit, "test", "console/e2e"])]);
}
const leftovers = [...((await postgres.stop()) ? [] : ["files of PostgreSQL"]), ...(await run.close())];
for (const leftover of leftovers) console.log(`left over: ${leftover}`);
count("nothing is left over", leftovers.length === 0);

// Repeated here because readers start at the end of a long log.
if (failures.length > 0) console.log(`\n== failures\n${failures.join("\n\n")}`);
const programs = unpackedPrograms();
if (programs !== null) console.log(`\nunpacked for the tests (delete the folder to remove them): ${programs}`);
const line = `${tally.passed} passed, ${tally.failed} failed${tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""}`;
console.log(`\n${line}`);
process.exit(tally.failed === 0 ? 0 : 1);

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

/** Runs checks that pass or fail as a whole, one after the other, and prints the output of each in one piece. */
async function checks(steps) {
  for (const [name, command, args] of steps) {
    let printed = "";
    const status = await run.execute(command, args, { onText: (text) => (printed += text) });
    process.stdout.write(printed);
    if (status !== 0) failures.push(`${name}:\n${printed}`);
    count(name, status === 0);
  }
}

function noPostgres(why) {
  return { url: null, why, stop: async () => true };
}

function count(name, ok) {
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (ok) tally.passed++;
  else tally.failed++;
}

/** Runs test suites in several processes and adds the runner's totals. A runner that crashes counts as a failure. */
async function suite(name, processes, folders) {
  console.log(`\n== ${name}`);
  const output = new SuiteOutput((text) => process.stdout.write(text));
  const status = await run.execute(
    bun,
    [
      ...["--no-env-file", "test", "--no-orphans", "--timeout", "300000", "--preload=./test/bundled-threads.ts"],
      // Slow files first; a process runs its files one after the other and shares loaded modules between them.
      ...[`--parallel=${processes}`, "--no-isolate", "--timings=test/timings.json"],
      ...(updateTimings ? ["--update-timings"] : []),
      ...folders.map((folder) => `./${folder}`),
    ],
    { onText: (text) => output.push(text) },
  );
  const { passed, failed, skipped, failures: suiteFailures } = output.end();
  console.log(`\n== ${name}: ended`);
  failures.push(...suiteFailures);
  tally.passed += passed;
  tally.skipped += skipped;
  // A runner that crashes, or that ran no tests, counts as failed regardless of its output.
  tally.failed += failed > 0 ? failed : status === 0 && passed > 0 ? 0 : 1;
}
