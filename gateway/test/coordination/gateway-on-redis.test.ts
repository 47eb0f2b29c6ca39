import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { aliceKey, errorOf, hello, type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";

describe.skipIf(noRedis !== null)(`gateway with Redis counters${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let server: RedisServer;
  let gateway: StartedGateway | null = null;
  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = null;
    await server.stop();
  });

  const start = async (overrides: Overrides = {}): Promise<StartedGateway> => {
    gateway = await startGateway({ ...overrides, environment: { redisUrl: new Secret(server.url) } });
    return gateway;
  };
  const textAt = async (path: string) => (await gateway?.get(path, {}))?.text();
  const keys = (alice: object, bob: object): NonNullable<Overrides["keys"]> => [
    { name: "alice", secret: aliceKey, ...alice },
    { name: "bob", secret: bobKey, ...bob },
  ];

  test("enforces limits and reports Redis in its metrics", async () => {
    const { chat } = await start({
      keys: keys({ limits: { rpm: 2 } }, { budget: { usd: 1, period: "total" as const } }),
    });
    expect([(await chat(hello)).status, (await chat(hello)).status, (await chat(hello)).status]).toEqual([
      200, 200, 429,
    ]);
    expect((await chat(hello, { key: bobKey })).status).toBe(200);
    await until(() => gateway?.gateway.outstanding() === 0);
    expect(await textAt("/readyz")).toBe("ready\n");
    await until(async () => (await textAt("/metrics"))?.includes("sluice_redis_unsent 0\n") === true);
    const metrics = await textAt("/metrics");
    for (const line of ["sluice_redis_up 1", "sluice_redis_slots_beyond_lease 0", "sluice_redis_resets_total 0"])
      expect(metrics).toContain(`${line}\n`);
    expect(metrics).toMatch(/sluice_redis_round_trip_seconds_count [1-9]/);
    expect(metrics).not.toContain("sluice_limits_counted");
  });

  test("starts while Redis is down, serves what fail-open limits allow, reports it, and counts once Redis is up", async () => {
    await server.end();
    const { chat } = await start({
      keys: keys({ limits: { rpm: 2 } }, { budget: { usd: 1, period: "total" as const } }),
    });
    expect(await textAt("/readyz")).toBe("ready, but the shared counter (Redis) is unavailable: connection refused.\n");
    expect(await textAt("/metrics")).toContain("sluice_redis_up 0\n");
    expect((await chat(hello)).status).toBe(200);
    expect(await errorOf(await chat(hello, { key: bobKey }))).toMatchObject({
      status: 503,
      code: "ledger_unavailable",
      message: expect.stringContaining("shared counter"),
    });
    await server.run();
    await until(async () => (await textAt("/readyz")) === "ready\n");
    expect((await chat(hello, { key: bobKey })).status).toBe(200);
    // The earlier call is in the ledger and was seeded when counting began.
    await until(async () => (await chat(hello)).status === 429);
  });

  test("applies each limit's fail mode while Redis is down and serves budgeted calls again afterwards", async () => {
    const { chat } = await start({
      keys: keys({ limits: { rpm: 100 } }, { limits: { rpm: 100, fail: "closed" } }),
    });
    expect((await chat(hello, { key: bobKey })).status).toBe(200);
    await server.end();
    await until(async () => (await chat(hello, { key: bobKey })).status === 503);
    expect((await chat(hello)).status).toBe(200);
    expect(await textAt("/readyz")).toStartWith("ready, but ");
    await server.run();
    await until(async () => (await chat(hello, { key: bobKey })).status === 200);
    expect(await textAt("/metrics")).toContain("sluice_redis_resets_total 1\n");
  });

  test("ends every running call and leaves nothing reserved when Redis is killed, emptied or paused", async () => {
    const budget = { budget: { usd: 10, period: "total" as const, fail: "open" as const } };
    const { chat, gateway: running } = await start({ keys: keys({ limits: { concurrency: 50 }, ...budget }, {}) });
    const slow = () =>
      chat({ ...hello, stream: true }, { script: { tokens: 6, event_ms: 50 } }).then((answer) => answer.text());
    const troubles = [
      async () => {
        await server.end();
        await server.run();
      },
      async () => {
        server.pause();
        await until(async () => (await textAt("/readyz"))?.startsWith("ready, but") === true);
        server.resume();
      },
    ];
    for (const trouble of troubles) {
      const calls = Promise.all(Array.from({ length: 10 }, slow));
      await trouble();
      for (const text of await calls) expect(text).toContain("[DONE]");
      await until(async () => (await textAt("/readyz")) === "ready\n");
    }
    await until(
      async () =>
        running.outstanding() === 0 && (await textAt("/metrics"))?.includes("sluice_redis_unsent 0\n") === true,
    );
  });
});
