import { expect, test } from "bun:test";
import { migrate, openPostgres } from "#storage/index.ts";
import { startGateway } from "../../../test/acceptance/start-gateway.ts";
import { startSimulator } from "../../../test/acceptance/start-simulator.ts";
import { keys, testConfig } from "../../../test/acceptance/test-config.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { migrateOneAhead, oneAhead } from "../one-schema-ahead.ts";
import { emptyPostgres } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

await onPostgres("a rolling upgrade", () => {
  test.skipIf(noRedis !== null)(
    "with the next version's expanded schema, running processes continue and new ones start; a contracted schema is refused in one line",
    async () => {
      await using empty = await emptyPostgres();
      const redis = await RedisServer.start();
      const simulator = await startSimulator();
      const config = testConfig(simulator.url);
      const env = {
        SLUICE_DATABASE_URL: empty.url,
        SLUICE_REDIS_URL: redis.url,
        SLUICE_BLOBS: "separate",
        SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef0123456789abcdef",
      };
      const running = await startGateway({ config, env });
      const database = await openPostgres({ url: empty.url, poolSize: 1, statementMs: 600_000 });
      try {
        const calls = async (url: string, secret: string, count: number): Promise<void> => {
          for (let call = 0; call < count; call++) {
            const answer = await fetch(`${url}/v1/chat/completions`, {
              method: "POST",
              headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
              body: JSON.stringify({ model: "gpt-test", messages: [{ role: "user", content: "hello" }] }),
            });
            expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
          }
        };
        await calls(running.url, keys.main, 3);
        // The first process of the next version does this before it serves.
        await migrateOneAhead(database);
        await until(() => running.output().includes("by a later, compatible version"));
        const started = await startGateway({ config, env });
        try {
          const key = await running.cli("key", "create", "--workspace", "acme", "--name", "meanwhile", "--json");
          const { secret } = JSON.parse(key.stdout) as { secret: string };
          await calls(running.url, keys.main, 3);
          await until(async () => {
            const answer = await fetch(`${started.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
            return answer.status === 200;
          });
          await calls(started.url, secret, 3);
          expect(await started.stop()).toBe(0);
          await started.restart();
          await calls(started.url, keys.main, 3);
          // Both read the same config file; additions of the next version do not count as a difference.
          const updates = database.kysely.selectFrom("audit_log").selectAll().where("action", "=", "update");
          expect(await updates.execute()).toEqual([]);
          const verified = await running.cli("ledger", "verify");
          expect([verified.status, verified.stdout]).toEqual([0, expect.stringContaining("no errors found")]);
          const contracted = { "901": () => ({ contractsFrom: "900", up: async () => undefined }) };
          await migrate(database, { ...oneAhead, ...contracted });
          await until(() => running.output().includes("by a later version that is incompatible"));
          expect(await started.stop()).toBe(0);
          const refused = await started.cli("serve");
          expect([refused.status, refused.stderr.trim().split("\n")]).toEqual([
            1,
            [expect.stringContaining("migrations of a newer version (900, 901)")],
          ]);
        } finally {
          await started.remove();
        }
        expect(await running.stop()).toBe(0);
      } finally {
        await running.remove();
        await database.close();
        await simulator.stop();
        await redis.stop();
      }
    },
  );
});
