import { expect, test } from "bun:test";
import { createClient } from "@redis/client";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { ask, costUsd, done, finished, never, price, settled, spentUsd } from "../background-fixture.ts";
import { MovedClock } from "../moved-clock.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/** Two gateways with separate journals and memory, sharing one database, one Redis and one upstream. */
async function startTwo(redis: RedisServer, databaseUrl: string, clock: MovedClock) {
  const environment = {
    databaseUrl: new Secret(databaseUrl),
    masterKey: new Secret("k".repeat(43)),
    redisUrl: new Secret(redis.url),
  };
  const same = {
    clock,
    environment,
    models: [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.1, period: "total" as const } }],
  };
  const first = await startGateway({
    ...same,
    providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
  });
  const second = await startGateway({
    ...same,
    providers: () => [upstream("main", first.simulator, { kind: "openai" })],
  });
  return [first, second] as const;
}

async function create(gateway: StartedGateway, script: object): Promise<string> {
  const made = await gateway.post("/v1/responses", ask, { script });
  const { id } = (await made.json()) as { id: string };
  expect(made.status).toBe(200);
  return id;
}

const isRefused = async (gateway: StartedGateway): Promise<boolean> =>
  (await gateway.post("/v1/responses", ask, { script: never })).status !== 200;

await onPostgres(`a shared counter${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  test.skipIf(noRedis !== null)(
    "holds a background response on every process until one of them charges it, even after Redis is emptied",
    async () => {
      await using fixture = await openPostgresFixture();
      const redis = await RedisServer.start();
      const clock = new MovedClock();
      const [first, second] = await startTwo(redis, fixture.url, clock);
      try {
        const id = await create(first, done);
        for (const gateway of [first, second]) {
          expect(await isRefused(gateway)).toBe(true);
          expect(await spentUsd(gateway)).toBeGreaterThan(0.06);
        }
        const hand = createClient({ url: redis.url });
        await hand.connect();
        await hand.flushAll();
        hand.destroy();
        await until(async () => {
          clock.move(1_000);
          return (await spentUsd(second)) > 0.06;
        });
        expect(await isRefused(second)).toBe(true);
        await finished(first, id);
        const entries = await settled(first, clock, 1);
        expect(entries).toMatchObject([{ usageSource: "upstream", usage: { output: 7_003 }, upstreamId: id }]);
        for (const gateway of [first, second])
          await until(async () => Math.abs((await spentUsd(gateway)) - costUsd) < 0.001);
      } finally {
        await second.stop();
        await first.stop();
        await redis.stop();
      }
    },
  );
});
