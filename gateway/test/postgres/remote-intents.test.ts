import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

await onPostgres("durability remote", () => {
  let fixture: PostgresFixture;
  let gateway: StartedGateway;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    gateway = await startGateway({
      environment: { databaseUrl: new Secret(fixture.url) },
      settings: { ledger: { durability: "remote" } },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  const open = async () => {
    const rows = await fixture.database.kysely.selectFrom("open_attempts").select("owner").execute();
    return rows.map(({ owner }) => owner);
  };

  test("an attempt is in the database while it runs, and is deleted with its entry", async () => {
    const answer = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 3, event_ms: 30 } });
    expect(await open()).toEqual([gateway.control.instanceId]);
    await answer.text();
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "succeeded", usage: { output: 3 } });
    await until(async () => (await open()).length === 0);
  });

  test("while the database does not answer, callers get an error in their API's format, and nothing is sent", async () => {
    const sent = gateway.simulator.simulator.truth.list().total;
    const unlock = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = fixture.database.kysely.transaction().execute(async (transaction) => {
      await sql`lock table open_attempts in access exclusive mode`.execute(transaction);
      locked.resolve();
      await unlock.promise;
    });
    await locked.promise;
    let ready = "";
    const body = { model: "gpt-test", max_tokens: 5, messages: hello.messages };
    const headers = { "anthropic-version": "2023-06-01" };
    const calls = [gateway.chat(hello), gateway.post("/v1/messages", body, { headers })];
    const [openai, anthropic] = await Promise.all(calls).finally(async () => {
      ready = await (await gateway.get("/readyz", {})).text();
      unlock.resolve();
      await holder;
    });
    if (openai === undefined || anthropic === undefined) throw new Error("a call is missing");
    expect([openai.status, anthropic.status]).toEqual([503, 503]);
    expect(await openai.json()).toMatchObject({ error: { code: "ledger_unavailable" } });
    expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    expect(ready).toContain("the ledger cannot be written");
    expect(gateway.simulator.simulator.truth.list().total).toBe(sent);
    await until(async () => (await gateway.chat(hello)).status === 200);
  });
});
