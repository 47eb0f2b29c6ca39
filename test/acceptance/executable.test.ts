import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyPostgres } from "../../gateway/test/postgres-ground.ts";
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
 * The executable itself, in a folder of its own and with an empty PATH. TEST_EXECUTABLE names one that is to be released;
 * `npm test` has built one; where this test is run by itself one is built here, without bytecode, which takes a second.
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

test("the executable says its version, and the sums beside it are right", async () => {
  const told = await runChild(program, ["version", "--json"], { PATH: "" });
  expect(told).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(told.stdout)).toEqual({
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

test("the console and the API reference come out of it, with all that their pages ask for", async () => {
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

test("calls are answered whole and as streams, also those whose body a thread works on", async () => {
  const whole = await chat(gateway.url, { script: { tokens: 5 } });
  expect([whole.status, (await whole.text()).includes("chat.completion")]).toEqual([200, true]);
  const streamed = await rawChat(gateway.port, { stream: true, script: { tokens: 5 } });
  expect(eventsOf(dechunk(streamed.body)).at(-1)).toBe("[DONE]");
  // Unpacked by a thread.
  const words = Array.from({ length: 20_000 }, (_, index) => Bun.hash.crc32(String(index)).toString(36));
  const packed = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-encoding": "gzip",
      authorization: `Bearer ${keys.main}`,
    },
    body: Bun.gzipSync(JSON.stringify({ model: "gpt-test", messages: [{ role: "user", content: words.join(" ") }] })),
  });
  expect([packed.status, (await packed.text()).includes("chat.completion")]).toEqual([200, true]);
});

test("what was called is in the ledger, in the console's reports, and there again after kill -9", async () => {
  const admin = await AdminClient.signIn(gateway.url);
  // A thread drains the journal, another one reads what the console shows.
  await until(async () =>
    JSON.stringify(await admin.tell("GET", "/api/workspaces/acme/requests")).includes("gpt-test"),
  );
  await gateway.kill9();
  await gateway.restart();
  expect((await chat(gateway.url, { script: { tokens: 5 } })).status).toBe(200);
  const verified = await gateway.cli("ledger", "verify", "--json");
  expect([verified.status, JSON.parse(verified.stdout).ok]).toEqual([0, true]);
  expect(await gateway.cli("health", "/readyz")).toEqual({ status: 0, stdout: "ready\n", stderr: "" });
  expect((await gateway.cli("doctor")).status).toBe(0);
});

test("a backup that it makes is one that it restores", async () => {
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

test("`demo` answers with nothing set, tells of commands by its own name, and leaves nothing behind", async () => {
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

test("threads that the source starts are in the build, each under a name of its own", async () => {
  const { entriesOf } = await import("../../scripts/built-program.mjs");
  const names = entriesOf("executable.ts").map((file) => file.split("/").at(-1));
  expect(new Set(names).size).toBe(names.length);
  for (const name of ["body-worker.ts", "drain-worker.ts", "report-worker.ts", "check-worker.ts", "explain-worker.ts"])
    expect(names).toContain(name);
});

if (process.platform !== "linux" || noRedis !== null) {
  test.skip(`workers of the executable: ${noRedis ?? "Linux only"}`, () => undefined);
} else await onPostgres("workers of the executable", workers);

function workers(): void {
  test("with SLUICE_WORKERS it starts itself as each worker, on PostgreSQL and Redis", async () => {
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
