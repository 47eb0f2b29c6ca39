import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds, Secret } from "#core/index.ts";
import { postgresPingMsMax } from "#storage/upkeep/postgres-watch.ts";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { type InterruptibleProxy, wayTo } from "../silent-server.ts";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";

await onPostgres("a database that does not answer", () => {
  let fixture: PostgresFixture;
  let way: InterruptibleProxy;
  let gateway: StartedGateway;
  const clock = new MovedClock();

  beforeAll(async () => {
    fixture = await openPostgresFixture();
    const url = new URL(fixture.url);
    way = await wayTo(url.hostname, Number(url.port));
    url.port = String(way.port);
    gateway = await startGateway({
      clock,
      environment: { databaseUrl: new Secret(url.href) },
      keys: [
        { name: "alice", secret: aliceKey },
        { name: "bob", secret: bobKey },
      ],
    });
  });
  afterAll(async () => {
    way?.restore();
    await gateway?.stop();
    await way?.[Symbol.asyncDispose]();
    await fixture?.[Symbol.asyncDispose]();
  });

  const call = async (key: string) => await gateway.chat(hello, { key, script: { tokens: 2 } });
  const readyz = async () => {
    const answer = await gateway.get("/readyz", {});
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  const unready = "503 the database has been unreachable for longer than keys.stale_max";
  const untilNoticed = async () => {
    clock.move(bounds.postgresPingMs + postgresPingMsMax);
    await until(async () => (await readyz()).startsWith("200 ready, but the database is unreachable: "));
  };

  test("accepts cached keys until keys.stale_max, refuses others at once, and readiness reports which", async () => {
    expect((await call(aliceKey)).status).toBe(200);
    way.interrupt();
    const waiting = call(bobKey);
    await untilNoticed();
    // This query started before the outage was noticed, and waits no longer than the bound.
    expect(await errorOf(await waiting)).toMatchObject({ status: 503, code: "storage_unavailable" });

    let elapsedMs = 0;
    for (const atMs of [55_000, 65_000, 1_800_000, 3_000_000]) {
      clock.move(atMs - elapsedMs);
      elapsedMs = atMs;
      for (let n = 0; n < 5; n++) expect((await call(aliceKey)).status).toBe(200);
      const refused = await call(bobKey);
      expect(refused.headers.get("retry-after")).toBe("2");
      expect(await errorOf(refused)).toMatchObject({
        status: 503,
        code: "storage_unavailable",
        message: "Cannot check the API key because the database does not answer. Try again.",
      });
      expect(await readyz()).toBe("200 ready, but the database is unreachable: it does not answer");
    }
    clock.move(600_000);
    expect(await readyz()).toBe(unready);
    expect(await errorOf(await call(aliceKey))).toMatchObject({ status: 503, code: "storage_unavailable" });
    expect(gateway.gateway.journal.lag).toBeGreaterThan(0);

    way.restore();
    await until(async () => {
      clock.move(bounds.postgresPingMs);
      return (await readyz()) === "200 ready";
    });
    await until(async () => (await call(aliceKey)).status === 200);
    await until(async () => (await call(bobKey)).status === 200);
    expect((await gateway.entries()).length).toBeGreaterThanOrEqual(23);
    expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
  });
});
