// `npm run check:package`: installs the packed npm package into an empty folder, as a user would, and calls its demo.
// Fails if the installation is too large. Downloads the runtime from the npm registry, about 40 MB.
import { spawn, spawnSync } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifest } from "./built-program.mjs";
import { root } from "./install.mjs";

const megabytesMax = 150;
const startMsMax = 120_000;
const folder = mkdtempSync(join(tmpdir(), "sluice-package-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

must(process.execPath, [join(root, "scripts", "build-package.mjs"), "--out", folder]);
const empty = join(folder, "empty");
const tarball = join(folder, `sluice-gateway-${manifest.version}.tgz`);
must("npm", ["install", "--prefix", empty, "--no-audit", "--no-fund", "--ignore-scripts", tarball]);
const megabytes = sizeOf(join(empty, "node_modules")) / 1e6;
console.log(`installed: ${megabytes.toFixed(1)} MB`);
for (const name of readdirSync(join(empty, "node_modules")))
  console.log(`  ${(sizeOf(join(empty, "node_modules", name)) / 1e6).toFixed(1).padStart(6)} MB  ${name}`);
if (megabytes > megabytesMax) fail(`the installation is larger than ${megabytesMax} MB`);
const version = must("npx", ["--no", "--", "sluice-gateway", "--version"], empty).trim();
if (version !== manifest.version) fail(`the package reports version ${version}, not ${manifest.version}`);
await callDemo();
console.log("ok: installed, started with npx, called and stopped");

async function callDemo() {
  const port = await freePort();
  const env = { ...process.env, SLUICE_PORT: String(port), SLUICE_LOG_FORMAT: "json", SLUICE_DRAIN_GRACE_MS: "0" };
  const child = spawn("npx", ["--no", "--", "sluice-gateway", "demo"], {
    cwd: empty,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const ready = await readyLine(child);
  const key = readFileSync(ready.first_key_file, "utf8").trim();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "demo", stream: true, messages: [{ role: "user", content: "Hello" }] });
  const answer = await fetch(`${ready.url}/v1/chat/completions`, { method: "POST", headers, body });
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes("[DONE]")) fail(`the demo answered ${answer.status}: ${text}`);
  const page = await (await fetch(`${ready.url}/console/`)).text();
  const script = /src="([^"]+\.js)"/.exec(page)?.[1];
  if (script === undefined || !(await fetch(new URL(script, `${ready.url}/console/`))).ok)
    fail("the console is missing");
  child.kill("SIGTERM");
  await ended;
}

async function readyLine(child) {
  const timeout = setTimeout(() => fail("the gateway did not start in time"), startMsMax);
  let printed = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    printed += text;
    const line = printed.split("\n").find((one) => one.includes('"Sluice is ready."'));
    if (line === undefined) continue;
    clearTimeout(timeout);
    child.stdout.resume();
    return JSON.parse(line);
  }
  return fail(`the gateway ended: ${printed}`);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Bytes of all files in a folder. */
function sizeOf(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function must(program, words, cwd = root) {
  const done = spawnSync(program, words, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    shell: process.platform === "win32" && program !== process.execPath,
  });
  if (done.status !== 0) fail(`${program} ${words[0]} failed`);
  return done.stdout;
}

function fail(why) {
  console.error(`sluice: ${why}`);
  process.exit(1);
}
