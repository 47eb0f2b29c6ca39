// The environment of one test run: its own temporary folder and home, both removed at the end.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./install.mjs";

/** Longer than any suite takes on a busy machine; a suite that takes longer hangs. */
const suiteMsMax = 45 * 60_000;

/**
 * `environment` is the environment of the tests. `execute` runs a program in it and resolves to its exit status (128 or more
 * after a signal). `close` resolves to what the tests left over: processes, files, and files in the repository. When this process
 * exits, remaining processes are killed and the folders are removed; a signal to this process also ends the programs.
 */
export function openTestRun(base) {
  const folder = mkdtempSync(join(roomyMemory() ?? tmpdir(), "sluice-tests-"));
  // A PostgreSQL server that a test starts runs as another user, in a folder below this one.
  chmodSync(folder, 0o711);
  const temporary = join(folder, "tmp");
  const home = join(folder, "home");
  mkdirSync(temporary);
  mkdirSync(home);
  const environment = {
    ...withoutUserFolders(base),
    TMPDIR: temporary,
    HOME: home,
    // Otherwise every gateway that a test starts would transpile all source files again.
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(folder, "transpiled"),
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    // scripts/bundles.mjs writes programs here; test/programs.ts and test/bundled-threads.ts find them.
    TEST_BUNDLES: join(folder, "bundles"),
  };
  const before = new Set(strayFiles());
  const children = new Set();
  process.on("exit", () => {
    for (const { pid } of processesIn(folder)) end(pid);
    for (const place of mountsIn(folder)) spawnSync("umount", ["-l", place]);
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [signal, number] of [
    ["SIGINT", 2],
    ["SIGTERM", 15],
    ["SIGHUP", 1],
  ]) {
    process.on(signal, () => {
      for (const child of children) child.kill(signal);
      process.exit(128 + number);
    });
  }

  return {
    environment,
    execute(command, args, { stdio, onText = () => {}, msMax = suiteMsMax }) {
      const child = spawn(command, args, {
        cwd: root,
        env: environment,
        stdio: stdio ?? ["ignore", "pipe", "pipe"],
        timeout: msMax,
        killSignal: "SIGKILL",
      });
      children.add(child);
      for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", onText);
      return new Promise((resolve) => {
        child.on("error", (error) => {
          console.error(String(error));
          resolve(127);
        });
        child.on("close", (code) => {
          children.delete(child);
          resolve(code ?? 128);
        });
      });
    },
    async close() {
      const running = processesIn(folder).map(({ pid, name }) => `process ${pid}: ${name}`);
      return [
        ...running,
        ...readdirSync(temporary).map((name) => `in the temporary folder: ${name}${contentsOf(join(temporary, name))}`),
        ...readdirSync(home)
          .filter((name) => !caches.has(name))
          .map((name) => `in the home folder: ${name}`),
        ...strayFiles()
          .filter((name) => !before.has(name))
          .map((name) => `in the repository: ${name}`),
      ];
    },
  };
}

/** Lists the contents, which show which test left the folder over. */
function contentsOf(path) {
  if (!statSync(path).isDirectory()) return "";
  const names = readdirSync(path, { recursive: true });
  return names.length === 0 ? " (empty)" : ` (${names.slice(0, namesMax).join(", ")})`;
}

const namesMax = 12;

/**
 * Linux's in-memory folder, if there is enough memory: a run writes several gigabytes, most of them short-lived databases, and
 * a tenth of its time went to the disk. Returns null if TMPDIR is set.
 */
function roomyMemory() {
  if (process.platform !== "linux" || process.env.TMPDIR !== undefined) return null;
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    const available = 1_024 * Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8"))[1]);
    return Math.min(bavail * bsize, available / 2) >= memoryBytesMin ? memoryFolder : null;
  } catch {
    return null;
  }
}

const memoryFolder = "/dev/shm";
const memoryBytesMin = 3 * 1024 ** 3;

/** Folders that Chromium, the runtime and others create in a new home as caches. */
const caches = new Set([".bun", ".cache", ".npm"]);

/** Programs find a user's folders through these variables, and through HOME if they are missing. */
function withoutUserFolders(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("XDG_")));
}

/** Files that are not committed, ignored or not, except installed packages and the console's build. */
function strayFiles() {
  const done = spawnSync("git", ["status", "--porcelain", "--ignored", "--untracked-files=all"], {
    cwd: root,
    encoding: "utf8",
  });
  if (done.status !== 0) return [];
  return done.stdout
    .split("\n")
    .filter((line) => /^(\?\?|!!) /.test(line))
    .map((line) => line.slice(3))
    .filter((name) => !/(^|\/)(node_modules|dist)\/?/.test(name));
}

/** Processes of this run, recognized by its folder in their environment. Linux only; empty elsewhere. */
function processesIn(folder) {
  const found = [];
  for (const pid of pids()) {
    try {
      if (pid === process.pid || !readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder)) continue;
      found.push({
        pid,
        name: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim().slice(0, 120),
      });
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
  return found;
}

/** Small file systems that tests mounted in order to fill them. */
function mountsIn(folder) {
  try {
    const mountPoints = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "");
    return mountPoints.filter((mountPoint) => mountPoint.startsWith(`${folder}/`));
  } catch {
    return [];
  }
}

function pids() {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}
