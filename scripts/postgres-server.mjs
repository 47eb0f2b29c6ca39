// Runs one PostgreSQL server until its standard input closes; then stops it and removes its files.
// Prints one line: {"url": …}, or {"url": null, "why": …} if no server can be started. Each line on standard input is a command:
// pause, resume, kill, start, fill-disk or free-disk. When it is done, a line {"done": true} is printed.
// `--keeps-commits`: committed transactions survive `kill`.
import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fillDisk, freeDisk } from "./full-disk.mjs";
import { postgresPrograms, postgresVersionMin } from "./postgres.mjs";

const startMsMax = 60_000;
const stopMsMax = 20_000;
/** How long to wait for a server that may be about to end. */
const settleMs = 1_000;
/** The data may be lost in a power failure. Without fsync, committed data survives a crash of the server, but not of the machine. */
const fastSettings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 64MB
fsync = off
synchronous_commit = ${process.argv.includes("--keeps-commits") ? "on" : "off"}
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
autovacuum = off
jit = off
ssl = on
lc_messages = 'C'
`;

const folder = mkdtempSync(join(tmpdir(), "sluice-postgres-"));
const data = join(folder, "data");
let server = null;
let serveArguments = null;

// A signal to the whole process group also ends this process's owner, which closes the pipe.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const commands = createInterface({ input: process.stdin });
const inputClosed = new Promise((resolve) => commands.on("close", resolve));
process.stdin.on("error", () => commands.close());
try {
  const url = await start();
  console.log(JSON.stringify({ url }));
  let queue = Promise.resolve();
  commands.on("line", (command) => {
    queue = queue.then(async () => console.log(JSON.stringify({ done: await execute(command) })));
  });
  await inputClosed;
} catch (thrown) {
  console.log(JSON.stringify({ url: null, why: thrown instanceof Error ? thrown.message : String(thrown) }));
}
await stop();
process.exit(0);

async function start() {
  const programs = postgresPrograms();
  if (programs === null) throw new Error(`no PostgreSQL ${postgresVersionMin} or later is installed`);
  const user = userOfServer();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  initialize(programs, user);
  // Another program may take the port before the server does.
  for (let turn = 0; turn < 5; turn++) {
    const port = await freePort();
    serveArguments = [programs, user, port];
    if (await serve(...serveArguments)) return `postgres://postgres@127.0.0.1:${port}/postgres`;
  }
  throw new Error("the server did not start");
}

function initialize(programs, user) {
  // Sort text by the rules of a language, as most servers do, so that tests notice queries that need another order.
  const icu = ["--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  for (const locale of [icu, ["--locale=C"]]) {
    const made = spawnSync(
      join(programs, "initdb"),
      ["--pgdata", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", ...locale],
      { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: startMsMax },
    );
    if (made.status === 0) break;
    rmSync(data, { recursive: true, force: true });
    if (locale !== icu) throw new Error(`initdb failed: ${made.error?.message ?? lastLine(made.stderr)}`);
  }
  // The superuser needs no password; every other role does.
  writeFileSync(
    join(data, "pg_hba.conf"),
    "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
  );
  writeFileSync(join(data, "postgresql.auto.conf"), fastSettings);
  for (const [name, kind] of [
    ["server.crt", "cert"],
    ["server.key", "key"],
  ]) {
    const pem = readFileSync(new URL(`../gateway/test/fixtures/tls/upstream.example.${kind}.pem`, import.meta.url));
    // The server refuses a key file that other users can read.
    writeFileSync(join(data, name), pem, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(join(data, name), user.uid, user.gid);
  }
}

function lastLine(text) {
  return text.trim().split("\n").at(-1);
}

async function serve(programs, user, port) {
  server = spawn(join(programs, "postgres"), ["-D", data, "-p", String(port)], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return await new Promise((resolve) => {
    const timeout = setTimeout(() => resolve(false), startMsMax);
    const end = (isServing) => {
      clearTimeout(timeout);
      resolve(isServing);
    };
    server.stderr.setEncoding("utf8").on("data", (text) => {
      if (text.includes("ready to accept connections")) end(true);
    });
    server.on("error", () => end(false));
    server.on("close", () => end(false));
  });
}

/** Resolves to whether the command succeeded. */
async function execute(command) {
  if (command === "start") return await serve(...serveArguments);
  if (command === "pause") return signalAll("SIGSTOP");
  if (command === "resume") return signalAll("SIGCONT");
  const user = serveArguments[1];
  if (command === "fill-disk") return processes().map((pid) => fillDisk(pid, user))[0] === true;
  if (command === "free-disk") {
    for (const pid of processes()) freeDisk(pid, user);
    // A server that cannot write its log ends, so start it again.
    await Promise.race([serverEnded(), new Promise((resolve) => setTimeout(resolve, settleMs))]);
    return isServing() || (await serve(...serveArguments));
  }
  if (command !== "kill") return false;
  const ended = serverEnded();
  const all = processes();
  signalAll("SIGKILL");
  await ended;
  // Processes that are still ending hold the shared memory that the next server needs.
  for (const endMs = Date.now() + stopMsMax; all.some(isRunning) && Date.now() < endMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return !all.some(isRunning);
}

function isServing() {
  return server.exitCode === null && server.signalCode === null;
}

function serverEnded() {
  return new Promise((resolve) => (isServing() ? server.on("close", resolve) : resolve()));
}

function signalAll(signal) {
  for (const pid of processes()) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has already ended.
    }
  }
  return true;
}

/** The server, then its child processes; stopping the server first keeps it from starting more. Linux only. */
function processes() {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === server.pid);
  return [server.pid, ...children.map(Number)];
}

function parentOf(pid) {
  try {
    // pid (name) state parent …
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[1]);
  } catch {
    return null;
  }
}

function isRunning(pid) {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function stop() {
  if (server === null || !isServing()) return;
  if (process.platform === "linux") signalAll("SIGCONT");
  const ended = new Promise((resolve) => server.on("close", resolve));
  // Immediate shutdown is enough, because the files are removed next.
  server.kill("SIGQUIT");
  const hard = setTimeout(() => server.kill("SIGKILL"), stopMsMax);
  await ended;
  clearTimeout(hard);
}

/** PostgreSQL refuses to run as root, so root runs it as the user postgres or nobody. */
function userOfServer() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((which) => {
      const done = spawnSync("id", [which, name], { encoding: "utf8" });
      return done.status === 0 ? Number(done.stdout) : null;
    });
    if (uid !== null && gid !== null) return { uid, gid };
  }
  throw new Error("PostgreSQL refuses to run as root, and there is no user postgres or nobody");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
