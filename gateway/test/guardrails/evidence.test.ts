import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const email = "jane.canary@example.org";
const word = "bluebirdcanary";
const canaries = [secret, email, word];

const guardrails = [
  { name: "keys", check: { kind: "credentials" }, action: "block", on: ["input"] },
  { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] },
  { name: "shadow", check: { kind: "personal_data", types: ["email"] }, action: "block", enforce: false },
  { name: "code-names", check: { kind: "words", words: [word] }, action: "block", on: ["output"] },
] as const;

function evidenceOn(databaseUrl: () => Promise<string | null>): void {
  let echo: EchoUpstream;
  let gateway: StartedGateway;
  beforeAll(async () => {
    echo = startEchoUpstream();
    const url = await databaseUrl();
    gateway = await startGateway({
      providers: (simulator) => [upstream("openai", simulator, { kind: "openai", base_url: echo.url })],
      models: [{ name: "gpt", deployments: [{ provider: "openai", upstream_model: "gpt-5.1" }] }],
      keys: [{ name: "alice", secret: aliceKey, capture: "headers" }],
      guardrails: structuredClone(guardrails) as never,
      ...(url === null ? {} : { environment: { databaseUrl: new Secret(url) } }),
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    echo?.stop();
  });

  async function call(content: string, more: object = {}) {
    const response = await gateway.chat({ model: "gpt", messages: [{ role: "user", content }], ...more });
    await response.text();
    return { status: response.status, requestId: response.headers.get("x-request-id") ?? "" };
  }

  async function checksOf(requestId: string) {
    await gateway.entries();
    return await gateway.control.database.kysely
      .selectFrom("guardrail_checks")
      .selectAll()
      .where("request_id", "=", requestId)
      .orderBy("check_id")
      .execute();
  }

  test("keeps a blocked request, with its caller and without the text", async () => {
    const { status, requestId } = await call(`the key is ${secret}`);
    expect(status).toBe(400);
    expect(await checksOf(requestId)).toMatchObject([
      {
        ...{ guardrail_name: "keys", side: "input", action: "block", enforced: 1, verdict: "blocked", error: null },
        ...{ counts: '{"github_token":1}', paths: '["messages[0].content"]', unmasked: 0, unreadable: 0 },
        definition: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ]);
  });

  test("keeps a masked request, and what a shadowed guardrail would have done", async () => {
    const { status, requestId } = await call(`write to ${email}`);
    expect(status).toBe(200);
    const found = (await checksOf(requestId)).map((row) => [row.guardrail_name, row.side, row.verdict, row.enforced]);
    expect(found.toSorted()).toEqual([
      ["mail", "input", "masked", 1],
      ["shadow", "input", "blocked", 0],
    ]);
  });

  test("keeps a stream that was blocked in the middle", async () => {
    echo.pieces = () => ["one ", "two ", `${word} `, "three"];
    const { status, requestId } = await call("hello", { stream: true });
    echo.pieces = null;
    expect(status).toBe(200);
    expect(await checksOf(requestId)).toMatchObject([
      { guardrail_name: "code-names", side: "output", verdict: "blocked", counts: '{"word":1}' },
    ]);
  });

  test("removes what was found from names of members", async () => {
    const { requestId } = await call("hello", { unknown: { [secret]: { [email]: email } } });
    const rows = await checksOf(requestId);
    expect(rows.length).toBe(3);
    for (const canary of canaries) expect(JSON.stringify(rows)).not.toContain(canary);
  });

  test("counts checks that find nothing in the metrics", async () => {
    await call("hello");
    const metrics = await (await gateway.get("/metrics")).text();
    expect(metrics).toMatch(
      /sluice_guardrail_checks_total\{guardrail="keys",side="input",verdict="passed",enforced="true"\} [1-9]/,
    );
    expect(metrics).toMatch(/sluice_guardrail_check_seconds_count\{guardrail="keys"\} [1-9]/);
    for (const canary of canaries) expect(metrics).not.toContain(canary);
  });
}

describe("evidence on SQLite", () => evidenceOn(async () => null));

await onPostgres("evidence on PostgreSQL", () => {
  let fixture: PostgresFixture;
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  evidenceOn(async () => {
    fixture = await openPostgresFixture();
    return fixture.url;
  });
});
