import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { chat } from "./chat-call.ts";
import { runChild } from "./child.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { testConfig } from "./test-config.ts";

/** As it stands at its users: every module a file. */
const program = "gateway/src/cli/cli.ts";
const folder = mkdtempSync(join(tmpdir(), "sluice-loaded-"));
const list = join(folder, "modules");
const environment = { BUN_OPTIONS: `--preload ${join(import.meta.dir, "told-modules.ts")}`, TOLD_MODULES: list };
const upstream = Bun.serve({ idleTimeout: 0, port: 0, hostname: "127.0.0.1", fetch: () => Response.json(reply) });
const reply = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "up-test",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    config: testConfig(`http://127.0.0.1:${upstream.port}/v1`),
    env: environment,
    program,
  });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** The files that a process has loaded by now. */
async function loaded(pid: number): Promise<readonly string[]> {
  rmSync(list, { force: true });
  process.kill(pid, "SIGUSR2");
  return await until(() => {
    const text = existsSync(list) ? readFileSync(list, "utf8") : "";
    return text.endsWith("\n") ? text.trim().split("\n") : null;
  });
}

/** What a call on an ordinary upstream needs nothing of. The config file needs the schema library, and nobody else at a start. */
const late = [
  /\/simulator\/src\//,
  /\/contract\/src\/console\/(?!areas|languages|paths|remark-codes|roles|states|remark-sentences)/,
  /\/contract\/src\/openapi/,
  /\/gateway\/src\/admin\/handlers\/(?!key-names)/,
  /\/gateway\/src\/(?:coordination\/redis\/(?!loaded-late|options)|storage\/(?:move\/|upkeep\/(?:upgrade-)?postgres))/,
  /\/gateway\/src\/storage\/(?:reports\/postgres|database\/postgres\/(?:open|postgres-(?:check|dialect|driver|session)))/,
  /\/node_modules\/(?:pg|pg-[a-z]+|@redis)\//,
  /\/node_modules\/(?:@?better-auth|better-call|hono|nodemailer|@opentelemetry|@smithy|@aws-crypto)\//,
];

test("a start and its first call load nothing of the demo, the admin API, sign-in, AWS's signatures, PostgreSQL and Redis", async () => {
  expect((await chat(gateway.url, {})).status).toBe(200);
  const files = await loaded(gateway.pid());
  expect(files.some((file) => file.includes("/gateway/src/relay/"))).toBe(true);
  expect(files.filter((file) => late.some((pattern) => pattern.test(file)))).toEqual([]);
  expect(files.length).toBeLessThan(modulesMax);
});

test("the first call of the admin API loads it, and is answered", async () => {
  expect((await fetch(`${gateway.url}/api/session`)).status).toBe(200);
  const files = await loaded(gateway.pid());
  expect(files.some((file) => file.includes("/gateway/src/admin/handlers/"))).toBe(true);
  expect(files.some((file) => /\/simulator\/src\/|\/better-auth\//.test(file))).toBe(false);
});

test("the help of the command line loads neither the gateway nor the database", async () => {
  const env = { BUN_OPTIONS: `--preload ${join(import.meta.dir, "told-modules.ts")}`, TOLD_MODULES: `${list}-help` };
  const { status, stdout } = await runChild(program, ["--help"], { ...env, TOLD_AT_EXIT: "1" });
  expect(status).toBe(0);
  expect(stdout).toContain("ledger");
  const files = readFileSync(`${list}-help`, "utf8").trim().split("\n");
  expect(files.some((file) => file.endsWith("/cli/program.ts"))).toBe(true);
  const heavy = /\/node_modules\/(?:kysely|zod|yaml)\/|\/gateway\/src\/(?:main|storage|protocols|providers|relay)\//;
  expect(files.filter((file) => heavy.test(file))).toEqual([]);
});

/** 1,812 as of writing, with the runtime's own; 262 are the query builder's, 250 the dialects', 167 the config file's reader's. */
const modulesMax = 1_830;
