// The PostgreSQL of the tests: its programs found, or installed where this machine lets us; and one server for a run.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The oldest that the gateway works with. */
export const postgresVersionMin = 15;

export function ensurePostgres() {
  if (postgresPrograms() !== null) return;
  if (process.getuid?.() !== 0 || !onPath("apt-get")) {
    const why = onPath("apt-get") ? "only root may install one" : "there is no apt-get to install one";
    console.error(`No PostgreSQL ${postgresVersionMin} or later is installed, and ${why}; its tests will be skipped.`);
    return;
  }
  console.error("Installing PostgreSQL for the tests …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...words) =>
    spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"], env, timeout: 300_000 });
  // Only the programs: what makes and starts a server of the whole machine is left out of it.
  const installed = () => apt("install", "-y", "--no-install-recommends", "postgresql").status === 0;
  if (installed()) return;
  apt("update");
  if (!installed()) console.error("PostgreSQL could not be installed (see above); its tests will be skipped.");
}

/** The folder of `initdb` and `postgres`; null where there is none that is new enough. */
export function postgresPrograms() {
  const folders = [...versionsIn("/usr/lib/postgresql"), ...(process.env.PATH ?? "").split(delimiter)];
  return folders.find((folder) => isProgram(folder, "initdb") && versionOf(folder) >= postgresVersionMin) ?? null;
}

/**
 * Starts a server that ends with this process, however that ends: the program that runs it holds a pipe from here. `url`
 * is null where there is no server; `why` says it then. `stop` resolves to whether it went without leaving anything.
 */
export async function startPostgres() {
  const runner = spawn(process.execPath, [fileURLToPath(new URL("postgres-server.mjs", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  runner.unref();
  runner.stdin.unref?.();
  const ended = new Promise((resolve) => runner.on("close", (code) => resolve(code === 0)));
  const told = await new Promise((resolve) => {
    let text = "";
    runner.stdout.setEncoding("utf8").on("data", (part) => {
      text += part;
      if (text.includes("\n")) resolve(JSON.parse(text));
    });
    runner.on("error", (error) => resolve({ url: null, why: String(error) }));
    runner.on("close", () => resolve({ url: null, why: "the program that runs it has ended" }));
  });
  runner.stdout.destroy();
  return {
    url: told.url,
    why: told.why ?? null,
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

function onPath(name) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => isProgram(folder, name));
}
