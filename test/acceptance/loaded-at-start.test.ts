import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { chat } from "./chat-call.ts";
import { runChild } from "./child.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { testConfig } from "./test-config.ts";

/** The source, as users start it: every module is a file. */
const program = "gateway/src/cli/cli.ts";
const folder = mkdtempSync(join(tmpdir(), "sluice-loaded-"));
const list = join(folder, "modules");
const environment = {
  BUN_OPTIONS: `--preload ${join(import.meta.dir, "list-loaded-modules.ts")}`,
  LOADED_MODULES_FILE: list,
};
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

/** The files that a process has loaded so far. */
async function loadedFiles(pid: number): Promise<readonly string[]> {
  rmSync(list, { force: true });
  process.kill(pid, "SIGUSR2");
  return await until(() => {
    const text = existsSync(list) ? readFileSync(list, "utf8") : "";
    return text.endsWith("\n") ? text.trim().split("\n") : null;
  });
}

/** Modules that a start and a call to an ordinary upstream do not need. (The schema library is needed to read the config file.) */
const lazyModules = [
  /\/simulator\/src\//,
  /\/contract\/src\/console\/(?!alert-sentences|alert-table|areas|key-owners|languages|paths|remark-codes|roles|states|remark-sentences)/,
  /\/contract\/src\/openapi/,
  /\/gateway\/src\/admin\/handlers\/(?!key-names)/,
  /\/gateway\/src\/(?:coordination\/redis\/(?!loaded-late|options)|storage\/(?:move\/|upkeep\/(?:upgrade-)?postgres))/,
  /\/gateway\/src\/storage\/(?:reports\/postgres|database\/postgres\/(?:open|postgres-(?:check|dialect|driver|session)))/,
  /\/node_modules\/(?:pg|pg-[a-z]+|@redis)\//,
  /\/node_modules\/(?:@?better-auth|better-call|hono|nodemailer|@opentelemetry|@smithy|@aws-crypto)\//,
];

test("a start and its first call load no code of the demo, the admin API, sign-in, AWS signatures, PostgreSQL or Redis", async () => {
  expect((await chat(gateway.url, {})).status).toBe(200);
  const files = await loadedFiles(gateway.pid());
  expect(files.some((file) => file.includes("/gateway/src/relay/"))).toBe(true);
  expect(files.filter((file) => lazyModules.some((pattern) => pattern.test(file)))).toEqual([]);
  expect(files.length).toBeLessThan(modulesMax);
});

test("the first call to the admin API loads its code and is answered", async () => {
  expect((await fetch(`${gateway.url}/api/session`)).status).toBe(200);
  const files = await loadedFiles(gateway.pid());
  expect(files.some((file) => file.includes("/gateway/src/admin/handlers/"))).toBe(true);
  expect(files.filter((file) => /\/simulator\/src\/|\/better-auth\/|\/contract\/src\/openapi/.test(file))).toEqual([]);
});

test("a sign-in with a password loads no code of passkeys", async () => {
  const response = await fetch(`${gateway.url}/api/auth/sign-in/email`, {
    ...{ method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify({ email: "ada@example.com", password: "a wrong password" }),
  });
  expect(response.status).toBe(401);
  const files = await loadedFiles(gateway.pid());
  expect(files.some((file) => file.includes("/better-auth/"))).toBe(true);
  expect(files.filter((file) => /\/node_modules\/(?:@better-auth\/passkey|@simplewebauthn)\//.test(file))).toEqual([]);
});

test("the command line's help loads neither the gateway nor the database", async () => {
  const env = {
    BUN_OPTIONS: `--preload ${join(import.meta.dir, "list-loaded-modules.ts")}`,
    LOADED_MODULES_FILE: `${list}-help`,
  };
  const { status, stdout } = await runChild(program, ["--help"], { ...env, LIST_MODULES_AT_EXIT: "1" });
  expect(status).toBe(0);
  expect(stdout).toContain("ledger");
  const files = readFileSync(`${list}-help`, "utf8").trim().split("\n");
  expect(files.some((file) => file.endsWith("/cli/program.ts"))).toBe(true);
  const heavy = /\/node_modules\/(?:kysely|zod|yaml)\/|\/gateway\/src\/(?:main|storage|protocols|providers|relay)\//;
  expect(files.filter((file) => heavy.test(file))).toEqual([]);
});

/** Currently 1,812, including the runtime's own; 262 belong to the query builder, 250 to the protocols, 167 to the config file reader. */
const modulesMax = 1_830;
