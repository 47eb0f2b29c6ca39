import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RehearsalResult, RehearsalWithResult } from "@sluice/contract";
import { bounds, Secret } from "#core/index.ts";
import { RehearsalRun, resolveChange } from "#rehearsal/index.ts";
import { until } from "../../../test/until.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";
import { createMembers, email, getAs, postAs, readAs, secret, sendAs } from "./guardrail-fixture.ts";

const bobKey = "sk-bob-0123456789abcdefghij";
const carolKey = "sk-carol-0123456789abcdefghij";
const noMail = { name: "no-mail", check: { kind: "personal_data", types: ["email"] }, action: "block" } as const;
const callNames = ["email", "own email", "secret", "not captured", "long", "streamed"] as const;
type CallName = (typeof callNames)[number];

interface Sent {
  readonly id: string;
  readonly status: number;
  readonly text: string;
}

function rehearsalsOn(databaseUrl: () => Promise<string | null>): void {
  let echo: EchoUpstream;
  let gateway: StartedGateway;
  let users: Readonly<Record<"admin" | "viewer", string>>;
  /** The same calls, before and after the guardrail was created, and their periods. */
  const sent: Record<"before" | "after", Map<CallName, Sent>> = { before: new Map(), after: new Map() };
  const spans = { before: { from: 0, to: 0 }, after: { from: 0, to: 0 } };

  beforeAll(async () => {
    echo = startEchoUpstream();
    const url = await databaseUrl();
    gateway = await startGateway({
      providers: (simulator) => [upstream("openai", simulator, { kind: "openai", base_url: echo.url })],
      models: [
        {
          name: "gpt",
          deployments: [{ provider: "openai", upstream_model: "gpt-5.1" }],
          price: { input: 1, output: 1 },
        },
      ],
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
    await sendCalls("before");
    expect((await sendAs(users.admin, gateway, "guardrails", noMail)).status).toBe(201);
    await until(async () => (await gateway.chat(chatOf(`write to ${email}`), { key: carolKey })).status === 400);
    await sendCalls("after");
  });
  afterAll(async () => {
    await gateway?.stop();
    echo?.stop();
  });

  const chatOf = (content: string, more: object = {}) => ({
    ...{ model: "gpt", messages: [{ role: "user", content }] },
    ...more,
  });

  async function sendCalls(when: "before" | "after"): Promise<void> {
    // Earlier calls ended in another millisecond.
    const earlier = Date.now();
    const from = await until(() => (Date.now() > earlier ? Date.now() : null));
    const call = async (name: CallName, key: string, content: string, more: object = {}) => {
      const response = await gateway.chat(chatOf(content, more), { key });
      const id = response.headers.get("x-request-id") ?? "";
      sent[when].set(name, { id, status: response.status, text: await response.text() });
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
    const { database } = gateway.control;
    if (when === "after") {
      const blocked: readonly CallName[] = callNames.filter((name) => name !== "secret");
      expect([...sent.after].map(([name, { status }]) => [name, status])).toEqual(
        callNames.map((name) => [name, blocked.includes(name) && name !== "streamed" ? 400 : 200]),
      );
      await until(async () => {
        const checks = await database.kysely.selectFrom("guardrail_checks").select("request_id").execute();
        return blocked.every((name) => checks.some((check) => check.request_id === idOf(name, "after")));
      });
    }
    spans[when] = { from, to: Date.now() + 1 };
  }

  const idOf = (name: CallName, when: "before" | "after" = "before") => sent[when].get(name)?.id ?? "";

  const start = (change: object, who: "admin" | "viewer" = "admin", more: object = spans.before) =>
    postAs(users[who], gateway, "rehearsals", { change, workspace: "acme", ...more });

  const ofAcme = (guardrail: object) => ({ workspaces: [{ slug: "acme", guardrails: [guardrail] }] });

  async function rehearse(change: object, span: object = spans.before): Promise<RehearsalResult> {
    const started = await start(change, "admin", span);
    expect(started.status).toBe(202);
    const { id } = (await started.json()) as { id: string };
    const done = await until(async () => {
      const text = await (await getAs(users.admin, gateway, `rehearsals/${id}`)).text();
      expect([text.includes(secret), text.includes(email)]).toEqual([false, false]);
      const job = JSON.parse(text) as RehearsalWithResult;
      return job.state === "waiting" || job.state === "running" ? null : job;
    });
    expect([done.state, done.problem]).toEqual(["done", null]);
    return done.result as RehearsalResult;
  }

  async function guardrail(fields: object, span: object = spans.before) {
    const [only] = (await rehearse(ofAcme({ ...noMail, ...fields }), span)).guardrails;
    if (only === undefined) throw new Error("the result has no guardrail");
    return only;
  }

  test("counts the requests, answers and people that a new rule would have stopped, and the money", async () => {
    const result = await rehearse(ofAcme({ ...noMail, name: "new" }));
    const label = "guardrail acme/new";
    expect(result).toMatchObject({
      ...{ calls: 6, refused: 3, people_touched: 1, keys_touched: 2, allowed: 0 },
      rules: [{ limit: "guardrail", scope: "guardrail", label, changed: true, calls: 3 }],
      people: [{ person: { email: "admin@example.com" }, refused: 1 }],
      first: { request_id: idOf("email"), label },
    });
    expect(BigInt(result.rehearsed_nano_usd) * 2n).toBe(BigInt(result.recorded_nano_usd));
    expect(result.requests.map((row) => row.request_id)).toEqual(
      (["email", "own email", "long"] as const).map((name) => idOf(name)),
    );
    expect(result.unknown).toContainEqual({ code: "not_captured", calls: 1 });
    const [own] = result.guardrails;
    expect(own).toMatchObject({
      ...{ name: "new", workspace: { slug: "acme" }, mode: "enforced", not_run: null },
      ...{ calls: 6, captured: 5, found: 4, people_touched: 1, keys_touched: 2, allowed: 0, allowed_unknown: 0 },
      input: { examined: 5, blocked: 3, masked: 0, flagged: 0, unreadable: 0, cut: 1, redacted: 1, failed: 0 },
      output: { examined: 2, blocked: 1 },
      types: [{ type: "email", findings: 4 }],
      people: [{ person: { email: "admin@example.com" }, requests: 1 }],
      recorded: { blocked: 0, masked: 0, flagged: 0 },
    });
    expect(own?.keys.map(({ name, requests }) => [name, requests])).toEqual([
      ["alice", 3],
      ["bob", 1],
    ]);
    expect(own?.hours.reduce((sum, { blocked }) => sum + blocked, 0)).toBe(4);
    const found = own?.requests.map((row) => [row.request_id, row.side, row.verdict]);
    expect(found).toEqual([
      [idOf("streamed"), "output", "blocked"],
      [idOf("long"), "input", "blocked"],
      [idOf("own email"), "input", "blocked"],
      [idOf("email"), "input", "blocked"],
    ]);
  });

  test("predicts the refusals of the same captured calls with the guardrail", async () => {
    const { requests, guardrails } = await rehearse(ofAcme({ ...noMail, name: "new" }));
    const refused = new Set(requests.map((row) => row.request_id));
    for (const name of callNames) {
      const isRefused = sent.after.get(name)?.status === 400;
      expect([name, isRefused]).toEqual([name, refused.has(idOf(name)) || name === "not captured"]);
    }
    expect(guardrails[0]?.output.blocked).toBe(1);
    expect(sent.after.get("streamed")?.text).toContain("guardrail_blocked");
  });

  test("counts limits on the calls that are left", async () => {
    const keys = [{ name: "alice", limits: { rpm: 1 } }];
    const change = { workspaces: [{ slug: "acme", keys, guardrails: [{ ...noMail, name: "new" }] }] };
    const { refused, rules } = await rehearse(change);
    expect([refused, rules.map(({ limit, calls }) => [limit, calls])]).toEqual([
      4,
      [
        ["guardrail", 3],
        ["rpm", 1],
      ],
    ]);
  });

  test("runs the rule as changed: its action, its mode, its sides, its places and what it applies to", async () => {
    const flagged = await rehearse(ofAcme({ ...noMail, name: "new", action: "flag" }));
    expect([flagged.refused, flagged.guardrails[0]?.input]).toMatchObject([0, { blocked: 0, flagged: 3 }]);
    expect((await guardrail({ action: "mask" })).input).toMatchObject({ blocked: 0, masked: 3 });
    const shadow = await rehearse(ofAcme({ ...noMail, name: "new", enforce: false }));
    expect(shadow).toMatchObject({ refused: 0, guardrails: [{ mode: "shadow", input: { blocked: 3 } }] });
    expect(await guardrail({ on: ["output"] })).toMatchObject({ found: 1, input: { examined: 0 } });
    expect(await guardrail({ at: ["tool_results"] })).toMatchObject({ captured: 5, found: 0 });
    expect(await guardrail({ keys: ["bob"] })).toMatchObject({ calls: 1, captured: 1, found: 1 });
    const beyond = { check: { kind: "words", words: ["Falcon"] } };
    expect(await guardrail(beyond)).toMatchObject({ found: 0, input: { cut: 1 } });
    expect((await guardrail({ check: { kind: "credentials" } })).input).toMatchObject({ blocked: 0, redacted: 1 });
  });

  test("counts requests that an enforced rule refused then, and that would be let through", async () => {
    const removed = await rehearse(ofAcme({ name: "no-mail", enabled: false }), spans.after);
    expect(removed).toMatchObject({
      ...{ calls: 2, refused: 0, allowed: 4, difference_nano_usd: "0" },
      guardrails: [{ mode: "removed", allowed: 4, allowed_unknown: 0, recorded: { blocked: 5 }, captured: 0 }],
    });
    expect(removed.unknown).toContainEqual({ code: "allowed_cost", calls: 4 });
    // The check of another guardrail failed, which may have refused the request, too.
    const { kysely } = gateway.control.database;
    const requestId = idOf("email", "after");
    const check = await kysely
      .selectFrom("guardrail_checks")
      .selectAll()
      .where("request_id", "=", requestId)
      .executeTakeFirstOrThrow();
    const other = { ...check, check_id: "chk_other", guardrail_id: "gr_other", verdict: "failed" } as const;
    await kysely.insertInto("guardrail_checks").values(other).execute();
    const shadow = await rehearse(ofAcme({ name: "no-mail", enforce: false }), spans.after);
    await kysely.deleteFrom("guardrail_checks").where("check_id", "=", other.check_id).execute();
    expect(shadow).toMatchObject({ allowed: 3, guardrails: [{ mode: "shadow", allowed: 3, allowed_unknown: 1 }] });
  });

  test("checks refused requests with the changed rule, if they were captured whole", async () => {
    const same = await guardrail({}, spans.after);
    expect(same).toMatchObject({ allowed: 0, allowed_unknown: 1, recorded: { blocked: 5 } });
    const cards = await guardrail({ check: { kind: "personal_data", types: ["card"] } }, spans.after);
    // The long one is cut, the other was not captured.
    expect(cards).toMatchObject({ allowed: 2, allowed_unknown: 2 });
  });

  test("ends its checks at their bound, and counts the calls that were not checked", async () => {
    const { database, controlStore } = gateway.control;
    const config = await controlStore.configSnapshot();
    const check = { kind: "personal_data" as const, types: ["card" as const] };
    const change = { workspaces: [{ slug: "acme", guardrails: [{ name: "no-mail", check }] }] };
    const resolved = await resolveChange(change, config, database);
    const order = { ...spans.after, now: Date.now(), ...resolved, config };
    const run = new RehearsalRun(database, order, 0);
    while (!(await run.step()).isOver);
    const { guardrails, unknown } = await run.result();
    expect(guardrails).toMatchObject([{ calls: 2, captured: 0, allowed: 0, allowed_unknown: 4 }]);
    expect(unknown).toContainEqual({ code: "captures_bound", calls: 6 });
  });

  test("does not ask models and services, and stores no secret of a webhook", async () => {
    const check = { kind: "webhook", url: "https://dlp.example/check", secret: "0123456789abcdef-webhook" };
    const result = await rehearse(ofAcme({ name: "dlp", check, action: "block" }));
    expect(result).toMatchObject({ refused: 0, guardrails: [{ not_run: "webhook", calls: 6, captured: 0 }] });
    expect(result.unknown).toContainEqual({ code: "checks_not_run", calls: 6 });
    const jobs = await gateway.control.database.kysely.selectFrom("rehearsals").select("change").execute();
    expect(jobs.some(({ change }) => change.includes("dlp.example"))).toBe(true);
    expect(jobs.some(({ change }) => change.includes(check.secret))).toBe(false);
  });

  test("names what is wrong with a rule", async () => {
    const wrong = async (fields: object) => {
      const refused = await start(ofAcme(fields));
      const { error } = (await refused.json()) as { error: { param: string } };
      return [refused.status, error.param];
    };
    const path = "change.workspaces[0].guardrails[0]";
    expect(await wrong({ ...noMail, groups: ["none"] })).toEqual([400, `${path}.groups[0]`]);
    expect(await wrong({ name: "unknown", enforce: false })).toEqual([400, `${path}.name`]);
    expect(await wrong({ name: "unknown", enabled: false })).toEqual([400, `${path}.name`]);
    expect(await wrong({ name: "keys", check: { kind: "moderation", model: "m" }, action: "mask" })).toEqual([
      ...[400, `${path}.action`],
    ]);
    const patterns = [{ name: "id", regex: "(?=a)b" }];
    expect((await wrong({ name: "ids", check: { kind: "patterns", patterns }, action: "block" }))[0]).toBe(400);
  });

  test("is for admins, who may read captured bodies, and is audited", async () => {
    expect((await start(ofAcme(noMail), "viewer")).status).toBe(403);
    expect((await start({ guardrails: [noMail] })).status).toBe(403);
    const audited = async () => {
      const { data } = (await (await readAs(users.admin, gateway, "audit")).json()) as { data: { object: string }[] };
      return data.filter(({ object }) => object === "captured request search").length;
    };
    const before = await audited();
    await rehearse(ofAcme(noMail));
    expect(await audited()).toBe(before + 1);
  });
}

describe("a rehearsed guardrail on SQLite", () => rehearsalsOn(async () => null));

await onPostgres("a rehearsed guardrail on PostgreSQL", () => {
  let fixture: PostgresFixture;
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  rehearsalsOn(async () => {
    fixture = await openPostgresFixture();
    return fixture.url;
  });
});
