import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { asOwner, openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

await onPostgres("database outage under load", () => {
  let fixture: PostgresFixture;
  let gateway: StartedGateway;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    gateway = await startGateway({ environment: { databaseUrl: new Secret(fixture.url) } });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  const name = () => new URL(fixture.url).pathname.slice(1);
  /** Connects to another database of the server, so that this one can be closed to all. */
  const elsewhere = () => {
    const url = new URL(fixture.url);
    url.pathname = "/postgres";
    return url.href;
  };
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`;
  const readyz = async () => {
    const answer = await gateway.get("/readyz", {});
    return `${answer.status} ${(await answer.text()).trim()}`;
  };

  test("dropped connections under load lose nothing", async () => {
    let calls = 0;
    for (let round = 0; round < 4; round++) {
      const answers = Array.from({ length: 5 }, () => gateway.chat(hello, { script: { tokens: 2 } }));
      calls += answers.length;
      await asOwner(elsewhere(), async (client) => void (await client.query(cut, [name()])));
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    }
    expect(await gateway.entries()).toHaveLength(calls);
  });

  test("while the server accepts no connections, calls continue, readiness reports it, an unknown key gets 503, and everything is stored later", async () => {
    const before = (await gateway.entries()).length;
    const open = (allowed: boolean) =>
      asOwner(elsewhere(), async (client) => {
        await client.query(`alter database ${name()} with allow_connections ${allowed}`);
        await client.query(cut, [name()]);
      });
    await open(false);
    try {
      await until(async () => (await readyz()).startsWith("200 ready, but the database is unreachable: "));
      expect(await (await gateway.get("/metrics", {})).text()).toContain("sluice_database_healthy 0");
      for (let n = 0; n < 5; n++) expect((await gateway.chat(hello, { script: { tokens: 2 } })).status).toBe(200);
      expect((await gateway.chat(hello, { key: "sk-nobody-knows-0123456789" })).status).toBe(503);
      expect(gateway.gateway.journal.lag).toBeGreaterThan(0);
    } finally {
      await open(true);
    }
    await until(async () => (await readyz()) === "200 ready");
    expect(await gateway.entries()).toHaveLength(before + 5);
    expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
  });
});
