import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresPrograms, startPostgres } from "../../scripts/postgres.mjs";
import { noRedis } from "../redis-server.ts";
import { until } from "../until.ts";
import { judgeLedger } from "./judge-ledger.ts";
import { readKeyUsage } from "./key-usage.ts";
import { KillLoad } from "./kill-load.ts";
import { readTruth } from "./kill-loop.ts";
import { exportLedger } from "./ledger-rows.ts";
import { startReplicas } from "./replicas.ts";
import { keys, testConfig } from "./test-config.ts";

const isMissing = process.platform !== "linux" || noRedis !== null || postgresPrograms() === null;

test.skipIf(isMissing)(
  "calls continue while PostgreSQL is killed and while its disk is full, and the ledger has each of them exactly once",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-postgres-kill-"));
    const truthFile = join(folder, "truth.jsonl");
    const postgres = await startPostgres({ keepsCommits: true });
    try {
      const wide = { limits: { concurrency: 10_000 }, budget: { usd: 100_000, period: "total" } } as const;
      const replicas = await startReplicas({
        postgresUrl: postgres.url ?? expect.unreachable(`${postgres.why}`),
        count: 1,
        config: (url) => ({
          ...testConfig(url),
          workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main, ...wide }] }],
        }),
        simulator: { truthFile },
      });
      try {
        const [gateway] = replicas.gateways;
        if (gateway === undefined) throw new Error("no gateway was started");
        const load = new KillLoad([gateway.url], { clients: 8, abortShare: 0.15, seed: 1 });
        const loaded = load.run();
        const waitForCalls = async (count: number): Promise<void> => {
          const before = load.finished;
          await until(() => load.finished >= before + count);
        };
        for (const [fault, repair] of [
          ["kill", "start"],
          ["fill-disk", "free-disk"],
        ] as const) {
          await waitForCalls(20);
          await postgres.control(fault);
          await waitForCalls(20);
          await postgres.control(repair);
        }
        await waitForCalls(20);
        load.stop();
        const calls = await loaded;
        await replicas.simulator.settled();
        await until(async () => (await readKeyUsage(gateway.url, keys.main))?.running === 0);
        expect(await gateway.stop()).toBe(0);
        await gateway.restart();
        const verify = await gateway.cli("ledger", "verify");
        expect(verify.status, `${verify.stdout}${verify.stderr}`).toBe(0);
        const rows = await exportLedger(gateway);
        const verdict = judgeLedger({ truth: readTruth(truthFile), rows, calls });
        expect(verdict.faults).toEqual([]);
        expect(verdict).toMatchObject({ missing: 0, duplicates: 0, wrongTokens: 0, wrongCost: 0 });
        const ledgerNanoUsd = rows.reduce((sum, row) => sum + row.cost_nano_usd, 0);
        await until(async () => (await readKeyUsage(gateway.url, keys.main))?.spentNanoUsd === ledgerNanoUsd);
      } finally {
        await replicas.close();
      }
    } finally {
      expect(await postgres.stop()).toBe(true);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
