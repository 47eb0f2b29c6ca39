// Runs one PostgreSQL server while somebody holds the other end of its standard input; then stops it and removes its files.
// Prints one line: {"url": …}, or {"url": null, "why": …} where no server can be had. Lines that come there are words of
// what is to befall the server: pause, resume, kill, run, fill (its disk is full), free. Each is answered with a line when it has: {"done": true}.
// `--keeps-commits`: what was committed outlives `kill`.
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
/** How long a server that is ending may take to have ended. */
const settleMs = 1_000;
/** Nothing here has to outlive a power cut; without a sync, what a transaction wrote outlives only its server. */
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
let served = null;

// Whoever ends a whole group of processes ends this one's owner, and with it the pipe.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const words = createInterface({ input: process.stdin });
const held = new Promise((resolve) => words.on("close", resolve));
process.stdin.on("error", () => words.close());
try {
  const url = await start();
  console.log(JSON.stringify({ url }));
  let told = Promise.resolve();
  words.on("line", (word) => {
    told = told.then(async () => console.log(JSON.stringify({ done: await befalls(word) })));
  });
  await held;
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
  initialise(programs, user);
  // Another program may take the port between its choice and its use.
  for (let turn = 0; turn < 5; turn++) {
    const port = await freePort();
    served = [programs, user, port];
    if (await serves(...served)) return `postgres://postgres@127.0.0.1:${port}/postgres`;
  }
  throw new Error("the server did not start");
}

function initialise(programs, user) {
  // Words in the order of a language by default, as on most servers: what must not depend on it says so itself.
  const order = ["--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  for (const locale of [order, ["--locale=C"]]) {
    const made = spawnSync(
      join(programs, "initdb"),
      ["--pgdata", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", ...locale],
      { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: startMsMax },
    );
    if (made.status === 0) break;
    rmSync(data, { recursive: true, force: true });
    if (locale !== order) throw new Error(`initdb failed: ${made.error?.message ?? lastLine(made.stderr)}`);
  }
  // The server's own user needs no password; every other role does.
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
    // Only its owner may read a key, or the server refuses it.
    writeFileSync(join(data, name), pem, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(join(data, name), user.uid, user.gid);
  }
}

function lastLine(text) {
  return text.trim().split("\n").at(-1);
}

async function serves(programs, user, port) {
  server = spawn(join(programs, "postgres"), ["-D", data, "-p", String(port)], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return await new Promise((resolve) => {
    const tooLate = setTimeout(() => resolve(false), startMsMax);
    const end = (served) => {
      clearTimeout(tooLate);
      resolve(served);
    };
    server.stderr.setEncoding("utf8").on("data", (text) => {
      if (text.includes("ready to accept connections")) end(true);
    });
    server.on("error", () => end(false));
    server.on("close", () => end(false));
  });
}

/** Whether it went as it was told. */
async function befalls(word) {
  if (word === "run") return await serves(...served);
  if (word === "pause") return signalAll("SIGSTOP");
  if (word === "resume") return signalAll("SIGCONT");
  const user = served[1];
  if (word === "fill") return processes().map((pid) => fillDisk(pid, user))[0] === true;
  if (word === "free") {
    for (const pid of processes()) freeDisk(pid, user);
    // A server that cannot write its log ends, and somebody starts it again.
    await Promise.race([serverEnded(), new Promise((resolve) => setTimeout(resolve, settleMs))]);
    return isServing() || (await serves(...served));
  }
  if (word !== "kill") return false;
  const ended = serverEnded();
  const all = processes();
  signalAll("SIGKILL");
  await ended;
  // Who still ends would keep the next server from its memory.
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
      // It has ended by itself.
    }
  }
  return true;
}

/** The server and the processes that it has made, itself first: then it makes no more. Linux only. */
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
  // At once and without tidying up: its files are removed next.
  server.kill("SIGQUIT");
  const hard = setTimeout(() => server.kill("SIGKILL"), stopMsMax);
  await ended;
  clearTimeout(hard);
}

/** PostgreSQL refuses to run as root; it is then run as its own user, or as nobody. */
function userOfServer() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((which) => {
      const told = spawnSync("id", [which, name], { encoding: "utf8" });
      return told.status === 0 ? Number(told.stdout) : null;
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
