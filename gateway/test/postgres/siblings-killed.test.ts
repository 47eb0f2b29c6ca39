import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TruthRecord } from "@sluice/simulator";
import { judgeLedger } from "../../../test/acceptance/judge-ledger.ts";
import { KillLoad } from "../../../test/acceptance/kill-load.ts";
import { exportLedger } from "../../../test/acceptance/ledger-rows.ts";
import { startGateway } from "../../../test/acceptance/start-gateway.ts";
import { startSimulator } from "../../../test/acceptance/start-simulator.ts";
import { keys, testConfig } from "../../../test/acceptance/test-config.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { emptyPostgres } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

await onPostgres("processes on one data directory", () => {
  test.skipIf(noRedis !== null)(
    `killed in turn under load, they lose and duplicate no attempt, and a live one takes over${noRedis === null ? "" : ` (${noRedis})`}`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "sluice-siblings-"));
      const truthFile = join(folder, "truth.jsonl");
      await using database = await emptyPostgres();
      const redis = await RedisServer.start();
      const simulator = await startSimulator({ truthFile });
      const config = {
        ...testConfig(simulator.url),
        workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main, limits: { concurrency: 10_000 } }] }],
      };
      const env = {
        SLUICE_DATABASE_URL: database.url,
        SLUICE_REDIS_URL: redis.url,
        SLUICE_DATA_DIR: join(folder, "data"),
        SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef0123456789abcdef",
      };
      const dead = await startGateway({ config, env });
      const alive = await startGateway({ config, env });
      try {
        const loads = [dead, alive].map(
          ({ url }, n) => new KillLoad([url], { clients: 3, abortShare: 0.15, seed: n + 1 }),
        );
        const loaded = loads.map((load) => load.run());
        const more = async (load: KillLoad | undefined, calls: number) => {
          const enough = (load?.made ?? 0) + calls;
          await until(() => (load?.made ?? 0) >= enough);
        };
        const adoptions = () => alive.output().split("recovered the journal of a dead process").length - 1;
        await more(loads[0], 50);
        await dead.kill9();
        await until(() => adoptions() === 1);
        await dead.restart();
        await more(loads[0], 50);
        await dead.kill9();
        // Either the sibling adopts it, or the process itself at its start.
        await dead.restart();
        await more(loads[0], 20);
        for (const load of loads) load.stop();
        const calls = (await Promise.all(loaded)).flat();
        await simulator.settled();
        expect([await dead.stop(), await alive.stop()]).toEqual([0, 0]);
        const names = readdirSync(join(env.SLUICE_DATA_DIR, "journal"), { recursive: true }).map(String);
        expect(names.filter((name) => !/^(?:\d+|(?:\d+\/)?owner\.lock)$/.test(name))).toEqual([]);
        const verify = await alive.cli("ledger", "verify");
        const truth = readFileSync(truthFile, "utf8").trim().split("\n");
        const records = truth.map((line) => JSON.parse(line) as TruthRecord);
        const verdict = judgeLedger({ truth: records, rows: await exportLedger(alive), calls });
        expect(verdict.faults).toEqual([]);
        expect(verdict).toMatchObject({ missing: 0, duplicates: 0, wrongTokens: 0, wrongCost: 0 });
        expect(verdict.outcomes["interrupted"]).toBeGreaterThan(0);
        expect(verify.status, verify.stdout + verify.stderr).toBe(0);
      } finally {
        await dead.remove();
        await alive.remove();
        await simulator.stop();
        await redis.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
