import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { spentUsd } from "../background-fixture.ts";
import { chatRow, clientOf, createBatch, ended } from "../endpoints/batches/batch-client.ts";
import { rowCost } from "../endpoints/batches/batch-gateway.ts";
import { BatchVendor } from "../endpoints/batches/batch-vendor.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const rowCount = 4;

await onPostgres(`a shared counter${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  test.skipIf(noRedis !== null)("counts the rows of a batch that another process continues", async () => {
    await using fixture = await openPostgresFixture();
    const redis = await RedisServer.start();
    const vendor = new BatchVendor();
    const start = (): Promise<StartedGateway> =>
      startGateway({
        environment: {
          databaseUrl: new Secret(fixture.url),
          masterKey: new Secret("k".repeat(43)),
          redisUrl: new Secret(redis.url),
        },
        providers: (simulator) => [
          upstream("main", simulator, { kind: "openai", base_url: vendor.url, settings: { batches: true } }),
        ],
        models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
        keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.1, period: "total" as const } }],
      });
    const first = await start();
    const second = await start();
    try {
      const rows = Array.from({ length: rowCount }, (_, n) => chatRow(`row-${n}`));
      const { id } = await createBatch(clientOf(first), rows);
      await until(() => vendor.batches.length === 1);
      await first.gateway.close();
      vendor.end();
      const { kysely } = second.control.database;
      await until(
        async () =>
          (await kysely.selectFrom("batches").select("state").where("id", "=", id).executeTakeFirst())?.state ===
          "completed",
      );
      const cost = (rowCount * rowCost) / 2 / 1e9;
      await until(async () => Math.abs((await spentUsd(second)) - cost) < 1e-9);
      expect((await ended(clientOf(second), id)).request_counts?.completed).toBe(rowCount);
    } finally {
      await second.stop();
      await first.stop();
      await redis.stop();
      vendor.stop();
    }
  });
});
