// The surroundings of one run of the tests: a temporary folder and a home of their own, and an end that leaves nothing.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./install.mjs";

/** Longer than any suite takes on a machine that has other work; what takes longer hangs. */
const suiteMsMax = 45 * 60_000;

/**
 * `execute` runs a program in these surroundings and resolves to its exit status (128 and more after a signal). `close`
 * ends what still runs, removes the surroundings, and says what the tests have left: files, processes, and files in the
 * repository; `environment` is theirs. A signal to this process ends the programs too.
 */
export function openTestRun(base) {
  const folder = mkdtempSync(join(roomyMemory() ?? tmpdir(), "sluice-tests-"));
  // A PostgreSQL that a test starts for itself runs as another user, below this.
  chmodSync(folder, 0o711);
  const temporary = join(folder, "tmp");
  const home = join(folder, "home");
  mkdirSync(temporary);
  mkdirSync(home);
  const environment = {
    ...withoutUsersFolders(base),
    TMPDIR: temporary,
    HOME: home,
    // Each gateway that a test starts would read and translate every source file anew.
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(folder, "transpiled"),
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    // Here scripts/bundles.mjs puts programs, and test/programs.ts and test/bundled-threads.ts find them.
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
        ...readdirSync(temporary).map((name) => `in the temporary folder: ${name}${within(join(temporary, name))}`),
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

/** What is in it says who has left it. */
function within(path) {
  if (!statSync(path).isDirectory()) return "";
  const names = readdirSync(path, { recursive: true });
  return names.length === 0 ? " (empty)" : ` (${names.slice(0, namesMax).join(", ")})`;
}

const namesMax = 12;

/**
 * Linux's folder in memory, where there is plenty of both: a run writes some gigabytes, most of them databases that live for a
 * second, and a tenth of its time was spent on the way to the disk. null where somebody has said where temporary files go.
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

/** What Chromium, the runtime and others keep for the next time, of a home that has none. */
const caches = new Set([".bun", ".cache", ".npm"]);

/** Programs that write to a user's folders find them by these, and by HOME where they are missing. */
function withoutUsersFolders(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("XDG_")));
}

/** Files that are in nobody's commit, ignored or not, without those of the installation and of the console's build. */
function strayFiles() {
  const told = spawnSync("git", ["status", "--porcelain", "--ignored", "--untracked-files=all"], {
    cwd: root,
    encoding: "utf8",
  });
  if (told.status !== 0) return [];
  return told.stdout
    .split("\n")
    .filter((line) => /^(\?\?|!!) /.test(line))
    .map((line) => line.slice(3))
    .filter((name) => !/(^|\/)(node_modules|dist)\/?/.test(name));
}

/** Programs that were started for this run: they know its folder from their environment. Linux only; elsewhere none. */
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
      // It has ended, or it is another user's.
    }
  }
  return found;
}

/** Small file systems that tests fill. */
function mountsIn(folder) {
  try {
    const places = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "");
    return places.filter((place) => place.startsWith(`${folder}/`));
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
    // It has ended by itself.
  }
}
