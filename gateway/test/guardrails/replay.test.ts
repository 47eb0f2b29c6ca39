import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { GuardrailReplay, RehearsalWithResult } from "@sluice/contract";
import { bounds, Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";
import { createMembers, email, getAs, postAs, readAs, secret, sendAs } from "./guardrail-fixture.ts";

const bobKey = "sk-bob-0123456789abcdefghij";
const carolKey = "sk-carol-0123456789abcdefghij";
const rule = { check: { kind: "personal_data", types: ["email"] }, action: "block" } as const;

function replayOn(databaseUrl: () => Promise<string | null>): void {
  let echo: EchoUpstream;
  let gateway: StartedGateway;
  let users: Readonly<Record<"admin" | "viewer", string>>;
  /** Requests by what they contain. */
  const ids = new Map<string, string>();

  beforeAll(async () => {
    echo = startEchoUpstream();
    const url = await databaseUrl();
    gateway = await startGateway({
      providers: (simulator) => [upstream("openai", simulator, { kind: "openai", base_url: echo.url })],
      models: [{ name: "gpt", deployments: [{ provider: "openai", upstream_model: "gpt-5.1" }] }],
      keys: [
        { name: "alice", secret: aliceKey, capture: "bodies" },
        { name: "bob", secret: bobKey, capture: "bodies" },
        { name: "carol", secret: carolKey, capture: "none" },
      ],
      openSignIn: ({ control }) => createHeaderSignIn(control.database, () => Date.now()),
      ...(url === null ? {} : { environment: { databaseUrl: new Secret(url) } }),
    });
    users = await createMembers(gateway, ["admin", "viewer"]);
    await gateway.control.database.kysely
      .updateTable("api_keys")
      .set({ owner_id: users.admin })
      .where("name", "=", "bob")
      .execute();
    const call = async (name: string, key: string, content: string, more: object = {}) => {
      const response = await gateway.chat({ model: "gpt", messages: [{ role: "user", content }], ...more }, { key });
      await response.text();
      expect(response.status).toBe(200);
      ids.set(name, response.headers.get("x-request-id") ?? "");
    };
    echo.pieces = () => ["Hello."];
    await call("email", aliceKey, `write to ${email}`);
    await call("own email", bobKey, `write to ${email}`);
    await call("secret", aliceKey, `the key is ${secret}`);
    await call("not captured", carolKey, `write to ${email}`);
    await call("long", aliceKey, `${email} ${"a b ".repeat(bounds.captureBodyBytesMax / 4)} Falcon`);
    echo.pieces = () => ["Write to ", email.slice(0, 9), email.slice(9), ", please."];
    await call("streamed", aliceKey, "hello", { stream: true });
    echo.pieces = null;
    await gateway.entries();
    await gateway.gateway.explainer.written();
  });
  afterAll(async () => {
    await gateway?.stop();
    echo?.stop();
  });

  const send = (body: object, who: "admin" | "viewer" = "admin") =>
    sendAs(users[who], gateway, "guardrails/replay", body);

  async function replay(body: object): Promise<GuardrailReplay> {
    const response = await send(body);
    const text = await response.text();
    expect([response.status, text.includes(secret), text.includes(email)]).toEqual([200, false, false]);
    return JSON.parse(text);
  }

  test("counts the requests, answers and people that the rule would have stopped", async () => {
    const answer = await replay(rule);
    expect(answer).toMatchObject({
      ...{ not_run: null, calls: 6, captured: 5, found: 4, next: null },
      input: { examined: 5, blocked: 3, masked: 0, flagged: 0, unreadable: 0, cut: 1, redacted: 1, failed: 0 },
      output: { examined: 2, blocked: 1 },
      types: [{ type: "email", findings: 4 }],
      people: [{ person: { email: "admin@example.com" }, requests: 1 }],
    });
    expect(answer.keys.map(({ name, requests }) => [name, requests]).toSorted()).toEqual([
      ["alice", 3],
      ["bob", 1],
    ]);
    const found = answer.requests.map((row) => [row.request_id, row.side, row.verdict]);
    expect(found).toEqual([
      [ids.get("streamed") ?? "", "output", "blocked"],
      [ids.get("long") ?? "", "input", "blocked"],
      [ids.get("own email") ?? "", "input", "blocked"],
      [ids.get("email") ?? "", "input", "blocked"],
    ]);
  });

  test("runs the rule as edited: its action, its sides, its places and what it applies to", async () => {
    expect((await replay({ ...rule, action: "flag" })).input).toMatchObject({ blocked: 0, flagged: 3 });
    expect((await replay({ ...rule, action: "mask" })).input).toMatchObject({ blocked: 0, masked: 3 });
    expect(await replay({ ...rule, on: ["output"] })).toMatchObject({ found: 1, input: { examined: 0 } });
    expect(await replay({ ...rule, at: ["tool_results"] })).toMatchObject({ captured: 5, found: 0 });
    const bob = (await replay(rule)).keys.find(({ name }) => name === "bob");
    expect(await replay({ ...rule, keys: [bob?.id] })).toMatchObject({ calls: 1, captured: 1, found: 1 });
    const beyond = { check: { kind: "words", words: ["Falcon"] }, action: "block" };
    expect(await replay(beyond)).toMatchObject({ found: 0, input: { cut: 1 } });
  });

  test("examines only requests of the period", async () => {
    expect(await replay({ ...rule, from: 0, to: 3_600_000 })).toMatchObject({ calls: 0, captured: 0, found: 0 });
    for (const time of [{ from: 7_200_000, to: 3_600_000 }, { from: 0 }]) {
      expect((await send({ ...rule, ...time })).status).toBe(400);
    }
    expect((await send({ ...rule, cursor: "elsewhere" })).status).toBe(400);
  });

  test("continues after a cursor, without counting the calls again", async () => {
    const { requests } = await replay(rule);
    const [first] = requests;
    const cursor = Buffer.from(`${first?.at}.${first?.request_id}`).toString("base64url");
    expect(await replay({ ...rule, cursor })).toMatchObject({ calls: null, captured: 4, found: 3 });
  });

  test("does not ask models and services", async () => {
    const check = { kind: "webhook", url: "https://dlp.example/check" };
    expect(await replay({ check, action: "block" })).toMatchObject({ not_run: "webhook", calls: 6, captured: 0 });
  });

  test("counts bodies from which credentials were removed", async () => {
    expect((await replay({ check: { kind: "credentials" }, action: "block" })).input).toMatchObject({
      blocked: 0,
      redacted: 1,
    });
  });

  test("is the same as a guardrail of a rehearsed change, with limits on the same calls", async () => {
    const keys = [{ name: "alice", limits: { rpm: 2 } }];
    const change = { workspaces: [{ slug: "acme", keys, guardrails: [{ name: "no-mail", ...rule }] }] };
    const body = { change, workspace: "acme", to: Date.now() + 60_000 };
    const started = await postAs(users.admin, gateway, "rehearsals", body);
    expect(started.status).toBe(202);
    const { id } = (await started.json()) as { id: string };
    const done = await until(async () => {
      const job = (await (await getAs(users.admin, gateway, `rehearsals/${id}`)).json()) as RehearsalWithResult;
      return job.state === "waiting" || job.state === "running" ? null : job;
    });
    const { from: _from, to: _to, next: _next, ...alone } = await replay(rule);
    expect(done).toMatchObject({
      ...{ state: "done", problem: null, entries_read: 6 },
      result: {
        ...{ calls: 6, refused: 2, keys_touched: 1, rules: [{ limit: "rpm", label: "key acme/alice" }] },
        guardrails: [{ name: "no-mail", workspace: { slug: "acme" }, ...alone, read_until: expect.any(Number) }],
      },
    });
    const wrong = { workspaces: [{ slug: "acme", guardrails: [{ name: "no-mail", ...rule, groups: ["none"] }] }] };
    const refused = await postAs(users.admin, gateway, "rehearsals", { change: wrong, workspace: "acme" });
    expect(((await refused.json()) as { error: { param: string } }).error.param).toBe(
      "change.workspaces[0].guardrails[0].groups[0]",
    );
    const check = { kind: "patterns", patterns: [{ name: "id", regex: "(?=a)b" }] };
    const invalid = { workspaces: [{ slug: "acme", guardrails: [{ name: "ids", check, action: "block" }] }] };
    expect((await postAs(users.admin, gateway, "rehearsals", { change: invalid, workspace: "acme" })).status).toBe(400);
    const installed = { change: { guardrails: [{ name: "no-mail", ...rule }] }, workspace: "acme" };
    expect((await postAs(users.admin, gateway, "rehearsals", installed)).status).toBe(403);
  });

  test("refuses a pattern that cannot be compiled", async () => {
    const check = { kind: "patterns", patterns: [{ name: "id", regex: "(?=a)b" }] };
    expect((await send({ check, action: "block" })).status).toBe(400);
  });

  test("is for admins, who may read captured bodies, and is audited", async () => {
    expect((await send(rule, "viewer")).status).toBe(403);
    const audited = async () => {
      const { data } = (await (await readAs(users.admin, gateway, "audit")).json()) as { data: { object: string }[] };
      return data.filter(({ object }) => object === "captured request search").length;
    };
    const before = await audited();
    await replay(rule);
    expect(await audited()).toBe(before + 1);
  });
}

describe("a guardrail on captured requests on SQLite", () => replayOn(async () => null));

await onPostgres("a guardrail on captured requests on PostgreSQL", () => {
  let fixture: PostgresFixture;
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  replayOn(async () => {
    fixture = await openPostgresFixture();
    return fixture.url;
  });
});
