import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { captureOf, explanationOf } from "../explain/fixture.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

await onPostgres("a gateway", () => {
  let fixture: PostgresFixture;
  let gateway: StartedGateway;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    gateway = await startGateway({
      environment: { databaseUrl: new Secret(fixture.url) },
      keys: [{ name: "alice", secret: aliceKey, capture: "bodies" }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  test("answers a call, stores it through the drain's own connection, and counts it in the reports", async () => {
    const answer = await gateway.chat(hello, { script: { tokens: 4 } });
    expect(answer.status).toBe(200);
    await answer.text();
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ model: "gpt-test", outcome: "succeeded", usage: { output: 4 } });
    const used = (await (await gateway.get("/v1/usage")).json()) as { readonly data: readonly object[] };
    expect(JSON.stringify(used)).toContain("gpt-test");
  });

  test("stores why a call failed through a separate connection, and reads it back", async () => {
    const answer = await gateway.chat(hello, { script: { status: 400 } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await explanationOf(gateway, answer))).toContain('"main"');
    expect(gateway.gateway.explainer.dropped.explanations).toBe(0);
  });

  test("stores texts of callers and upstreams that have zero characters", async () => {
    const zero = "a\0b";
    const before = (await gateway.entries()).length;
    const body = { ...hello, user: zero, metadata: { [zero]: zero }, messages: [{ role: "user", content: zero }] };
    const answered = await gateway.chat(body, { script: { tokens: 1 } });
    expect(answered.status).toBe(200);
    const error = JSON.stringify({ error: { message: zero, type: zero, code: zero } });
    const refused = await gateway.chat(body, { script: { status: 400, body: error } });
    expect(refused.status).toBe(400);
    const unknown = await gateway.chat({ ...body, model: zero });
    expect(unknown.status).toBe(404);
    expect((await gateway.entries()).length).toBe(before + 3);
    for (const answer of [refused, unknown]) expect(await explanationOf(gateway, answer)).not.toBeNull();
    await answered.text();
    const captured = await captureOf(gateway, answered);
    expect(JSON.parse(captured?.request_body ?? "")).toMatchObject({ user: zero });
    expect(gateway.gateway.explainer.dropped).toEqual({ explanations: 0, captures: 0, folded: 0 });
  });

  test("readiness and metrics work as with a file, and an invalid key is refused", async () => {
    expect(await (await gateway.get("/readyz", {})).text()).toBe("ready\n");
    expect(await (await gateway.get("/metrics", {})).text()).toContain("sluice_database_healthy 1");
    expect((await gateway.chat(hello, { key: "sk-nobody" })).status).toBe(401);
  });

  test("the control side never prints the database URL with its password", async () => {
    expect(Bun.inspect(gateway.control)).not.toContain("postgres://");
    expect(JSON.stringify(gateway.control.place)).toBe('{"kind":"postgres","url":"[redacted]"}');
    await until(() => gateway.gateway.journal.lag === 0);
  });
});
