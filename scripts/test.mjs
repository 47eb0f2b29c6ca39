// `npm test`: installs, type-checks, lints, looks for dead code, runs every test, and ends with `N passed, N failed`.
// `npm run ok` (--quick): types, lint, dead code, borders, and the unit tests beside the source; about a minute.
// `npm test -- PATH …`: the tests of these files and folders alone, started from the source.
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { makeBundles } from "./bundles.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";
import { ensurePostgres, startPostgres } from "./postgres.mjs";
import { SuiteOutput } from "./suite-output.mjs";
import { ensureBrowser, ensureJudges, ensureRedis, unpackedPrograms } from "./test-programs.mjs";
import { openTestRun } from "./test-run.mjs";

install();
const quick = process.argv.includes("--quick");
const updateTimings = process.argv.includes("--update-timings");
const given = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const paths = given.map((path) => relative(root, resolve(root, path)));
const missing = paths.filter((path) => !existsSync(join(root, path)));
if (missing.length > 0) {
  console.error(`sluice: there is no ${missing.join(", ")}; name files and folders from the root of the repository.`);
  process.exit(2);
}
const tally = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
ensurePostgres();
ensureRedis();
ensureJudges();
if (!quick) ensureBrowser();
// One server for all of them; each process of the tests has databases of its own there.
const postgres = quick ? noPostgres("npm run ok does without") : await startPostgres();
if (postgres.url === null) console.log(`The tests on PostgreSQL are skipped: ${postgres.why}.`);
const run = openTestRun({
  ...process.env,
  ...bunEnvironment,
  // The runner opens and closes a gateway several times a second: what one gives back the next asks for.
  MIMALLOC_PURGE_DELAY: "20000",
  // The type checker is written in Go, and ends before it needs what it could have let go of: a sixth of its processor time. It
  // needs 2.1 GB; at a limit that is as small its collector works all the time and frees nothing: a quarter of that time.
  GOGC: "off",
  GOMEMLIMIT: "3GiB",
  // The last stage of compilation pays for programs that run for minutes; of a test it is a tenth to a fifth of the processor time.
  BUN_JSC_useFTLJIT: "0",
  // The stage before it begins later than at users: another tenth.
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "5000",
  CI: process.env.CI ?? "",
  NO_COLOR: "1",
  TEST_POSTGRES: postgres.url ?? `none: ${postgres.why}`,
});

// What nobody uses: files, exports, dependencies; and what is used but not named in a package.json. See knip.json.
const knip = join(root, "node_modules", "knip", "bin", "knip.js");
const consoleBuild = ["console build", process.execPath, [join(root, "scripts", "build-console.mjs")]];
const wholeTree = [
  // Each on one core: those that share a check work out the same types again, half as much work more for two cores.
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
  const borders = ["modules", "phrases", "kind-words", "documents", "lockfile"];
  const files = borders.map((name) => `gateway/test/${name}.test.ts`);
  const beside = ["contract", "simulator", "bench", "console/src", "gateway/src"];
  await Promise.all([checks(wholeTree), suite("unit tests and borders", 2, [...beside, ...files])]);
} else {
  const [programs] = await Promise.all([makeBundles(run), checks([consoleBuild])]);
  count("programs of the tests", programs);
  // In one queue, the slow files first: those that wait for processes and browsers leave the processor to the others, and to the
  // checks. Each more reads and compiles the same modules once more (six take a seventh more of the processor than three).
  await Promise.all([
    checks(wholeTree),
    suite("all tests, and the console in a browser", 5, [...unit, "test", "console/e2e"]),
  ]);
}
const left = [...((await postgres.stop()) ? [] : ["files of PostgreSQL"]), ...(await run.close())];
for (const one of left) console.log(`left behind: ${one}`);
count("nothing is left behind", left.length === 0);

// Once more, because whoever looks at a long log looks at its end.
if (failures.length > 0) console.log(`\n== what failed\n${failures.join("\n\n")}`);
const programs = unpackedPrograms();
if (programs !== null) console.log(`\nunpacked for the tests (delete the folder to remove them): ${programs}`);
const line = `${tally.passed} passed, ${tally.failed} failed${tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""}`;
console.log(`\n${line}`);
process.exit(tally.failed === 0 ? 0 : 1);

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

/** Steps that are one check each, which passes or fails: one after the other, and what each prints in one piece. */
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

/** A step of many tests in so many processes: the runner's own totals are added up; a runner that dies counts as a failure. */
async function suite(name, processes, folders) {
  console.log(`\n== ${name}`);
  const output = new SuiteOutput((text) => process.stdout.write(text));
  const status = await run.execute(
    bun,
    [
      ...["--no-env-file", "test", "--no-orphans", "--timeout", "300000", "--preload=./test/bundled-threads.ts"],
      // The slow files first; within a process one after the other, in one register of modules.
      ...[`--parallel=${processes}`, "--no-isolate", "--timings=test/timings.json"],
      ...(updateTimings ? ["--update-timings"] : []),
      ...folders.map((folder) => `./${folder}`),
    ],
    { onText: (text) => output.push(text) },
  );
  const { passed, failed, skipped, failures: ofSuite } = output.end();
  console.log(`\n== ${name}: ended`);
  failures.push(...ofSuite);
  tally.passed += passed;
  tally.skipped += skipped;
  // A runner that dies, and one that ran nothing, have failed whatever they printed.
  tally.failed += failed > 0 ? failed : status === 0 && passed > 0 ? 0 : 1;
}
