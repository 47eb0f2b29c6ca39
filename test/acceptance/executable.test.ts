import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyPostgres } from "../../gateway/test/postgres-fixture.ts";
import { onPostgres } from "../../gateway/test/postgres-server.ts";
import manifest from "../../package.json" with { type: "json" };
import { executable } from "../programs.ts";
import { noRedis, RedisServer } from "../redis-server.ts";
import { until } from "../until.ts";
import { AdminClient, administratorEnvironment } from "./admin-client.ts";
import { buildInFolder } from "./built-program.ts";
import { chat, dechunk, eventsOf, rawChat } from "./chat-call.ts";
import { runChild, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, startSimulator } from "./start-simulator.ts";
import { keys, testConfig } from "./test-config.ts";

const root = join(import.meta.dir, "..", "..");

/**
 * The executable in its own folder, started with an empty PATH: the one that TEST_EXECUTABLE names (before a release), the one that
 * `npm test` has built, or else one that is built here without bytecode, which takes a second.
 */
let program = process.env["TEST_EXECUTABLE"] ?? executable() ?? "";
let built: Awaited<ReturnType<typeof buildInFolder>> | null = null;
let simulator: SimulatorProcess;
let gateway: Gateway;
beforeAll(async () => {
  if (program === "") {
    built = await buildInFolder("build-binary.mjs", "--no-bytecode");
    program = join(built.folder, `sluice-${process.platform}-${process.arch}`);
  }
  simulator = await startSimulator();
  const env = { PATH: "", ...administratorEnvironment };
  gateway = await startGateway({ program, config: testConfig(simulator.url), env });
});
afterAll(async () => {
  await gateway?.remove();
  await simulator?.stop();
  built?.remove();
});

test("the executable prints its version, and its checksums and license notices are right", async () => {
  const result = await runChild(program, ["version", "--json"], { PATH: "" });
  expect(result).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(result.stdout)).toEqual({
    version: manifest.version,
    ...(existsSync(join(root, ".git"))
      ? {
          revision: expect.stringMatching(/^[0-9a-f]{40}(?:-dirty)?$/),
          date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        }
      : { revision: "unknown", date: null }),
  });
  if (process.env["TEST_EXECUTABLE"] !== undefined) return;
  const folder = dirname(program);
  const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8");
  const digest = new Bun.CryptoHasher("sha256").update(await Bun.file(program).bytes()).digest("hex");
  expect(sums).toContain(`${digest}  `);
  expect(readFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), "utf8")).toContain("\nzod ");
});

test("serves the console and the API reference with all their scripts and styles", async () => {
  for (const [page, pattern] of [
    ["/console/", /(?:src|href)="([^"]+\.(?:js|css))"/g],
    ["/docs", /(?:src|href)="([^"]+\.(?:js|css|png))"/g],
  ] as const) {
    const answer = await fetch(`${gateway.url}${page}`);
    expect(answer.status).toBe(200);
    const parts = [...(await answer.text()).matchAll(pattern)].map(([, part]) => new URL(part ?? "", answer.url));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect([part.pathname, (await fetch(part)).status]).toEqual([part.pathname, 200]);
  }
  expect((await fetch(`${gateway.url}/openapi.json`)).status).toBe(200);
});

test("answers calls whole and as streams, including one with a body that a worker thread decompresses", async () => {
  const whole = await chat(gateway.url, { script: { tokens: 5 } });
  expect([whole.status, (await whole.text()).includes("chat.completion")]).toEqual([200, true]);
  const streamed = await rawChat(gateway.port, { stream: true, script: { tokens: 5 } });
  expect(eventsOf(dechunk(streamed.body)).at(-1)).toBe("[DONE]");
  // A worker thread decompresses this body.
  const words = Array.from({ length: 20_000 }, (_, index) => Bun.hash.crc32(String(index)).toString(36));
  const compressed = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-encoding": "gzip",
      authorization: `Bearer ${keys.main}`,
    },
    body: Bun.gzipSync(JSON.stringify({ model: "gpt-test", messages: [{ role: "user", content: words.join(" ") }] })),
  });
  expect([compressed.status, (await compressed.text()).includes("chat.completion")]).toEqual([200, true]);
});

test("calls appear in the ledger and in the console's reports, and survive kill -9", async () => {
  const admin = await AdminClient.signIn(gateway.url);
  // One thread drains the journal, and another reads what the console shows.
  await until(async () =>
    JSON.stringify(await admin.json("GET", "/api/workspaces/acme/requests")).includes("gpt-test"),
  );
  await gateway.kill9();
  await gateway.restart();
  expect((await chat(gateway.url, { script: { tokens: 5 } })).status).toBe(200);
  const verified = await gateway.cli("ledger", "verify", "--json");
  expect([verified.status, JSON.parse(verified.stdout).ok]).toEqual([0, true]);
  expect(await gateway.cli("health", "/readyz")).toEqual({ status: 0, stdout: "ready\n", stderr: "" });
  expect((await gateway.cli("doctor")).status).toBe(0);
});

test("restores a backup that it made", async () => {
  const copy = join(dirname(gateway.dataDir), "copy.sqlite");
  expect(await gateway.cli("backup", copy)).toMatchObject({ status: 0, stderr: "" });
  expect(await gateway.stop()).toBe(0);
  expect(await gateway.cli("restore", copy)).toMatchObject({ status: 0 });
  expect(await gateway.cli("migrate")).toMatchObject({ status: 0 });
  await gateway.restart();
  expect((await chat(gateway.url, { script: { tokens: 5 } })).status).toBe(200);
  await gateway.stop();
  expect((await gateway.cli("health")).status).toBe(1);
});

test("`demo` works without any settings, prints commands with its own name, and removes its files at the end", async () => {
  const home = dirname(gateway.dataDir);
  const port = String(await freePort());
  const child = startChild(program, ["demo"], { PATH: "", HOME: home, TMPDIR: home, SLUICE_PORT: port });
  const [, file = ""] = await until(() => /Bearer \$\(cat '([^']+)'\)/.exec(child.output()));
  expect(child.output()).toContain("create others: sluice key create");
  const answer = await chat(`http://127.0.0.1:${port}`, { model: "demo", key: readFileSync(file, "utf8").trim() });
  expect(await answer.text()).toContain("offline demo");
  child.signal("SIGTERM");
  expect([await child.exited, existsSync(dirname(file))]).toEqual([0, false]);
});

test("the build contains every worker thread, each under a unique name", async () => {
  const { entriesOf } = await import("../../scripts/built-program.mjs");
  const names = entriesOf("executable.ts").map((file) => file.split("/").at(-1));
  expect(new Set(names).size).toBe(names.length);
  for (const name of [
    "body-worker.ts",
    "drain-worker.ts",
    "report-worker.ts",
    "check-worker.ts",
    "explain-worker.ts",
    "rehearsal-worker.ts",
    "openapi-worker.ts",
  ])
    expect(names).toContain(name);
});

if (process.platform !== "linux" || noRedis !== null) {
  test.skip(`workers of the executable: ${noRedis ?? "Linux only"}`, () => undefined);
} else await onPostgres("workers of the executable", workers);

function workers(): void {
  test("SLUICE_WORKERS starts the executable once for each worker, with PostgreSQL and Redis", async () => {
    const [redis, database] = await Promise.all([RedisServer.start(), emptyPostgres()]);
    let several: Gateway | null = null;
    try {
      several = await startGateway({
        program,
        config: testConfig(simulator.url),
        env: { PATH: "", SLUICE_WORKERS: "2", SLUICE_DATABASE_URL: database.url, SLUICE_REDIS_URL: redis.url },
      });
      const { url } = several;
      const metrics = async () => (await fetch(`${url}/metrics`, { headers: { connection: "close" } })).text();
      await until(async () => (await metrics()).includes("\nsluice_workers 2\n"));
      expect((await chat(url, { script: { tokens: 5 } })).status).toBe(200);
      expect(await several.stop()).toBe(0);
    } finally {
      await several?.remove();
      await Promise.all([redis.stop(), database[Symbol.asyncDispose]()]);
    }
  });
}
