import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { explanationOf } from "../explain/ground.ts";
import { openPostgresGround, type PostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

await onPostgres("a gateway", () => {
  let ground: PostgresGround;
  let gateway: StartedGateway;
  beforeAll(async () => {
    ground = await openPostgresGround();
    gateway = await startGateway({ environment: { databaseUrl: new Secret(ground.url) } });
  });
  afterAll(async () => {
    await gateway?.stop();
    await ground?.[Symbol.asyncDispose]();
  });

  test("a call is answered, booked by the drain's own connection, and counted in the reports", async () => {
    const answer = await gateway.chat(hello, { script: { tokens: 4 } });
    expect(answer.status).toBe(200);
    await answer.text();
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ model: "gpt-test", outcome: "succeeded", usage: { output: 4 } });
    const used = (await (await gateway.get("/v1/usage")).json()) as { readonly data: readonly object[] };
    expect(JSON.stringify(used)).toContain("gpt-test");
  });

  test("why a call failed is kept by a connection of its own, and read again", async () => {
    const answer = await gateway.chat(hello, { script: { status: 400 } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await explanationOf(gateway, answer))).toContain('"main"');
    expect(gateway.gateway.explainer.dropped.explanations).toBe(0);
  });

  test("readiness and metrics are as on a file, and a refused key is refused", async () => {
    expect(await (await gateway.get("/readyz", {})).text()).toBe("ready\n");
    expect(await (await gateway.get("/metrics", {})).text()).toContain("sluice_database_healthy 1");
    expect((await gateway.chat(hello, { key: "sk-nobody" })).status).toBe(401);
  });

  test("the address with its password stands in nothing that is printed of the control side", async () => {
    expect(Bun.inspect(gateway.control)).not.toContain("postgres://");
    expect(JSON.stringify(gateway.control.place)).toBe('{"kind":"postgres","url":"[redacted]"}');
    await until(() => gateway.gateway.journal.lag === 0);
  });
});
