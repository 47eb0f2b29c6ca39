import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssetStore } from "#assets/index.ts";
import { DueWorker } from "#core/index.ts";
import { faultTellMs } from "#core/lasting-fault.ts";
import { openVault } from "#storage/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { taskIdleMs } from "#tasks/poll/poller.ts";
import { until } from "../../../test/until.ts";
import { keepLedger } from "../../src/main/upkeep.ts";
import { Poller } from "../../src/tasks/poll/poller.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { asOwner, openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

/** Each worker that polls the database logs an outage, repeats that at a slow pace, and logs the recovery. */
await onPostgres("while the database is away", () => {
  test("each polling worker logs the outage once, again at a slow pace, and once when it is over", async () => {
    await using fixture = await openPostgresFixture();
    const folder = mkdtempSync(join(tmpdir(), "sluice-outage-"));
    const { database, url } = fixture;
    const clock = new FakeClock();
    const lines: string[] = [];
    const observer = {
      ...silentObserver,
      log: (level: string, message: string) => void lines.push(`${level} ${message}`),
    };
    const calls = { tasks: 0, assets: 0, sums: 0 };
    const answered = { tasks: 0, assets: 0, sums: 0 };
    let waiting = 0;
    const counted = async <Result>(what: keyof typeof calls, act: () => Promise<Result>): Promise<Result> => {
      calls[what]++;
      waiting++;
      try {
        const result = await act();
        answered[what]++;
        return result;
      } finally {
        waiting--;
      }
    };
    const tasks = createTaskStore({ database, vault: openVault({ masterKey: null, dataDir: folder }) });
    const assets = createAssetStore({ database });
    const idle = { pass: async () => 0, sweep: async () => undefined, onWake: () => undefined };
    const poller = new Poller({
      store: {
        ...tasks,
        nextDue: (now: number) => counted("tasks", () => tasks.nextDue(now)),
      },
      ...{ clock, observer, deliveries: idle, holds: idle, materials: idle },
    } as never);
    const worker = new DueWorker({
      rows: {
        next: () => counted("assets", () => assets.nextDueAsset()),
        lease: (...due) => assets.dueAssets(...due),
      },
      ...{ leaseMs: 180_000, atOnceMax: 8, tickMs: 2_000, restMs: 15_000, noun: "asset" },
      ...{ work: async () => undefined, clock, observer },
    });
    const leader = new AbortController();
    const stopKeeping = keepLedger({
      database,
      clock,
      observer,
      ledgerStore: {
        createPartitions: async () => 0,
        sumDay: async () => 0,
        sumHours: async () => 0,
        fold: () =>
          counted("sums", async () => (await database.kysely.selectFrom("leases").selectAll().execute()).length),
      },
      leadership: {
        lead: (_name: string, work: (lease: { signal: AbortSignal }) => Promise<void>) => {
          const working = work({ signal: leader.signal });
          const stop = async (): Promise<void> => {
            leader.abort();
            await working;
          };
          return { isLeading: true, stop };
        },
      } as never,
    });
    const elsewhere = new URL(url);
    elsewhere.pathname = "/postgres";
    const name = new URL(url).pathname.slice(1);
    const open = (allowed: boolean) =>
      asOwner(elsewhere.href, async (client) => {
        await client.query(`alter database ${name} with allow_connections ${allowed}`);
        await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
      });
    /** Advances the clock while no query is waiting, until the condition holds. */
    const advanceUntil = (isSo: () => boolean): Promise<unknown> =>
      until(() => {
        if (waiting === 0) clock.advance(taskIdleMs);
        return isSo();
      });
    /** Until each worker has polled ten more times. */
    const untilTenMore = async (counts: typeof calls): Promise<void> => {
      const before = { ...counts };
      await advanceUntil(() =>
        (["tasks", "assets", "sums"] as const).every((what) => counts[what] >= before[what] + 10),
      );
    };
    const unread = [
      "error failed to read the task store; retrying",
      "warn failed to read due assets; retrying",
      "warn failed to fold sums of usage; retrying",
    ];
    try {
      poller.start();
      worker.start();
      await untilTenMore(answered);
      expect(lines).toEqual([]);
      await open(false);
      await advanceUntil(() => lines.length >= 3);
      await untilTenMore(calls);
      expect(lines.toSorted()).toEqual(unread.toSorted());
      clock.advance(faultTellMs);
      await untilTenMore(calls);
      for (const line of unread) expect(lines.filter((one) => one === line).length).toBeGreaterThanOrEqual(2);
      const before = lines.length;
      await open(true);
      await untilTenMore(answered);
      expect(
        lines
          .slice(before)
          .filter((line) => line.startsWith("info "))
          .toSorted(),
      ).toEqual([
        "info due assets are read again",
        "info recovered: fold sums of usage",
        "info the task store is readable again",
      ]);
    } finally {
      await open(true);
      clock.advance(60_000);
      await poller.stop();
      await worker.stop();
      await stopKeeping();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
