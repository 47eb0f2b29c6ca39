import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLogin, type StoredLogin } from "../../src/cli/login/login-file.ts";
import { signIn } from "../../src/cli/login/sign-in.ts";
import { sluice } from "../command-line.ts";
import { hello } from "../started-gateway.ts";
import { type AgentFixture, startAgentFixture } from "./agent-fixture.ts";

let fixture: AgentFixture;
const folder = mkdtempSync(join(tmpdir(), "sluice-login-"));
beforeAll(async () => {
  fixture = await startAgentFixture();
});
afterAll(async () => {
  await fixture.stop();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
const newPath = () => join(folder, `${++files}`, "login.json");
const run = (words: readonly string[], path: string) => sluice(words, folder, { SLUICE_LOGIN_FILE: path });

/** Signs in while a test plays the user: the first wait ends when they confirm. */
async function loggedIn(path: string): Promise<StoredLogin> {
  const printedLines: string[] = [];
  let approved = false;
  const login = await signIn({
    base: fixture.gateway.url,
    authorities: undefined,
    path,
    print: (line) => void printedLines.push(line),
    pause: async () => {
      if (approved) return;
      approved = true;
      const code = /code (\S{4}-\S{4})/.exec(printedLines.join("\n"))?.[1] ?? "";
      expect(await fixture.approve(fixture.ada, code)).toBe(200);
    },
  });
  expect(printedLines.join("\n")).toContain(`${new URL(fixture.gateway.url).port}/console/device?user_code=`);
  return login;
}

/** Ages the login so that this much of its access token's hour is left. */
function ageLogin(path: string, leftMs: number): void {
  writeFileSync(path, JSON.stringify({ ...readLogin(path), expiresAt: Date.now() + leftMs }), { mode: 0o600 });
}

test("stores a login readable by its user only, and `sluice token` prints only a working token", async () => {
  const path = newPath();
  const login = await loggedIn(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const printed = await run(["token"], path);
  expect(printed).toEqual({ status: 0, stdout: `${login.accessToken}\n`, stderr: "" });
  const answer = await fixture.gateway.chat(hello, { key: printed.stdout.trim(), script: { tokens: 1 } });
  expect(answer.status).toBe(200);
});

test("trusts a gateway certificate from an authority in SLUICE_CA_FILE", async () => {
  const tls = join(import.meta.dir, "../fixtures/tls");
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({}),
    tls: {
      cert: Bun.file(join(tls, "gateway.example.cert.pem")),
      key: Bun.file(join(tls, "gateway.example.key.pem")),
    },
  });
  try {
    const login = (variables: Record<string, string>) =>
      sluice(["login", `https://localhost:${server.port}`], folder, { SLUICE_LOGIN_FILE: newPath(), ...variables });
    expect((await login({})).stderr).toContain("does not answer");
    const believing = await login({ SLUICE_CA_FILE: join(tls, "gateway.example.cert.pem") });
    expect(believing.stderr).toContain("does not support sign-in of programs");
  } finally {
    await server.stop(true);
  }
});

test("Codex calls with the output of `sluice token`, and the ledger has person, group and workspace", async () => {
  const path = newPath();
  await loggedIn(path);
  const printed = (await run(["token"], path)).stdout.trim();
  const session = "0b6c6f1e-6f0f-4a8c-9d0a-3c1c5ac0a001";
  const answer = await fetch(`${fixture.gateway.url}/v1/responses`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${printed}`,
      "content-type": "application/json",
      accept: "text/event-stream",
      originator: "codex_cli_rs",
      "user-agent": "codex_cli_rs/0.128.0 (Linux 6.8; x86_64)",
      session_id: session,
      conversation_id: session,
      "x-codex-made-up": "1",
    },
    body: JSON.stringify({
      model: hello.model,
      instructions: "You are a coding agent.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      tools: [{ type: "function", name: "shell", parameters: { type: "object", properties: {} }, strict: false }],
      tool_choice: "auto",
      parallel_tool_calls: true,
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: session,
    }),
  });
  expect([answer.status, answer.headers.get("content-type")?.split(";")[0]]).toEqual([200, "text/event-stream"]);
  expect(await answer.text()).toContain("event: response.completed");
  const [entry] = await fixture.gateway.entries();
  const configSnapshot = await fixture.gateway.control.controlStore.configSnapshot();
  const group = [...configSnapshot.groups.values()].find(({ workspaceId }) => workspaceId === fixture.workspace);
  expect(entry).toMatchObject({
    endpoint: "responses",
    outcome: "succeeded",
    workspaceId: fixture.workspace,
    groupId: group?.id,
    personId: fixture.ada.userId,
    stream: true,
  });
});

test("refreshes an expiring token once for simultaneous processes", async () => {
  const path = newPath();
  const login = await loggedIn(path);
  ageLogin(path, 299_000);
  const printed = await Promise.all(Array.from({ length: 6 }, () => run(["token"], path)));
  expect(new Set(printed.map(({ status, stderr }) => `${status}${stderr}`))).toEqual(new Set(["0"]));
  const saved = readLogin(path);
  expect(new Set(printed.map(({ stdout }) => stdout.trim()))).toEqual(new Set([saved.accessToken]));
  expect(saved.refreshToken).not.toBe(login.refreshToken);
  expect(saved.refreshToken).toContain(".2.");
  expect([statSync(path).mode & 0o777, existsSync(`${path}.lock`)]).toEqual([0o600, false]);
});

test("removes a stale lock of a dead process", async () => {
  const path = newPath();
  await loggedIn(path);
  ageLogin(path, 0);
  writeFileSync(`${path}.lock`, "");
  utimesSync(`${path}.lock`, 1, 1);
  expect((await run(["token"], path)).status).toBe(0);
});

test("an unreachable gateway is an error only once the token has expired", async () => {
  const path = newPath();
  const login = await loggedIn(path);
  const away = { ...login, tokenEndpoint: "http://127.0.0.1:1/oauth/token", expiresAt: Date.now() + 60_000 };
  writeFileSync(path, JSON.stringify(away));
  expect(await run(["token"], path)).toMatchObject({ status: 0, stdout: `${login.accessToken}\n` });
  writeFileSync(path, JSON.stringify({ ...away, expiresAt: 0 }));
  const over = await run(["token"], path);
  expect([over.status, over.stdout]).toEqual([1, ""]);
  expect(over.stderr).toContain("does not answer");
});

test("logout ends the sign-in at the gateway and deletes it locally", async () => {
  const path = newPath();
  const login = await loggedIn(path);
  expect((await run(["logout"], path)).status).toBe(0);
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, JSON.stringify({ ...login, expiresAt: 0 }));
  const ended = await run(["token"], path);
  expect([ended.status, ended.stdout]).toEqual([1, ""]);
  expect(ended.stderr).toContain("has ended; run `sluice login");
  expect(ended.stderr).not.toContain(login.refreshToken);
});

test("reports at once that a sign-in was ended elsewhere, before its token expires", async () => {
  const path = newPath();
  await loggedIn(path);
  const { body } = await fixture.ada.call("GET", "/api/agents");
  for (const { id } of body.data) {
    expect((await fixture.ada.call("DELETE", `/api/agents/${id}`)).status).toBe(200);
  }
  const ended = await run(["token"], path);
  expect([ended.status, ended.stdout]).toEqual([1, ""]);
  expect(ended.stderr).toContain("has ended; run `sluice login");
});

test("refreshes a token that the gateway rejects, independently of the local clock", async () => {
  const path = newPath();
  const login = await loggedIn(path);
  // Like an hour-old token on a machine with its clock set back.
  writeFileSync(path, JSON.stringify({ ...login, accessToken: `${login.accessToken}x` }), { mode: 0o600 });
  const printed = await run(["token"], path);
  expect([printed.status, printed.stderr]).toEqual([0, ""]);
  expect(readLogin(path).refreshToken).not.toBe(login.refreshToken);
  expect((await fixture.gateway.chat(hello, { key: printed.stdout.trim(), script: { tokens: 1 } })).status).toBe(200);
});

test("reports an exhausted budget to Codex as an error it understands, once, with the reset time", async () => {
  const path = newPath();
  const { accessToken: key } = await loggedIn(path);
  const [{ key: id }] = (await fixture.ada.call("GET", "/api/agents")).body.data;
  const place = `/api/workspaces/${fixture.workspace}/keys/${id}`;
  const limit = async (budget: object | null) => await fixture.ada.call("PATCH", place, { budget });
  expect((await limit({ usd: 0, period: "month" })).status).toBe(200);
  for (const [endpoint, body] of [
    ["/v1/responses", { model: hello.model, input: "hi" }],
    ["/v1/chat/completions", hello],
  ] as const) {
    const refused = await fixture.gateway.post(endpoint, body, { key });
    const { error } = (await refused.json()) as { error: Record<string, unknown> };
    expect([refused.status, error["type"], error["code"]]).toEqual([429, "usage_limit_reached", "budget_exceeded"]);
    expect(Number(error["resets_at"]) * 1_000).toBeGreaterThan(Date.now());
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await limit(null)).status).toBe(200);
});

test("reports a login file that exists but cannot be read", async () => {
  const path = newPath();
  mkdirSync(path, { recursive: true });
  const answer = await run(["token"], path);
  expect([answer.status, answer.stdout]).toEqual([1, ""]);
  expect(answer.stderr).toContain("cannot be read: EISDIR");
});

test.each([
  ["token", [], 1, "not signed in"],
  ["logout", [], 1, "not signed in"],
  ["login", [], 2, "missing address of the gateway"],
  ["login", ["http://gateway.example.com"], 2, "must use https"],
  ["login", ["ftp://gateway.example.com"], 2, "not a valid address of a gateway"],
  ["login", ["http://127.0.0.1:1"], 1, "does not answer"],
])("sluice %s %j fails with %d and one line", async (command, words, status, line) => {
  const answer = await run([command, ...words], newPath());
  expect([answer.status, answer.stdout]).toEqual([status, ""]);
  expect(answer.stderr).toContain(line);
  expect(answer.stderr.trim().split("\n")).toHaveLength(1);
});

test("reports an invalid login file", async () => {
  const path = join(folder, "broken.json");
  writeFileSync(path, "{");
  expect((await run(["token"], path)).stderr).toContain("is invalid");
  expect(readFileSync(path, "utf8")).toBe("{");
});

test("prints no token after a mistyped subcommand of `sluice token`", async () => {
  const path = newPath();
  const { accessToken } = await loggedIn(path);
  const answer = await run(["token", "lst"], path);
  expect([answer.status, answer.stdout.includes(accessToken)]).toEqual([2, false]);
});
