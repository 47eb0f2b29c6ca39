import { parseArgs } from "node:util";
import { sql } from "kysely";
import { bounds } from "../../gateway/src/core/index.ts";
import { migrate, openPostgres } from "../../gateway/src/storage/index.ts";
import { postgresReports } from "../../gateway/src/storage/reports/postgres-reports.ts";
import { reportStoreOf } from "../../gateway/src/storage/reports/report-store.ts";
import { startPostgres } from "../../scripts/postgres.mjs";
import { answers } from "./console-answers.ts";
import { figure } from "./figure.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { filledAlready, fillers, fillPostgres } from "./postgres-rows.ts";
import { folding, pruning, summing } from "./postgres-upkeep.ts";
import { table } from "./table.ts";

/**
 * Latency of the console's queries on PostgreSQL with many entries; `console-reports.ts` measures the same queries on SQLite. Starts a
 * separate server, fills it and deletes it afterwards: ten million entries need 12 GB of disk and several minutes.
 *
 *     bun bench/src/postgres-reports.ts [--entries 10000000] [--keys 100000] [--times 20] [--database postgres://…]
 *
 * `--database`: a database that an earlier run has filled. It is migrated and kept, without its oldest day.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      entries: { type: "string", default: "10000000" },
      keys: { type: "string", default: "100000" },
      times: { type: "string", default: "20" },
      database: { type: "string" },
    },
  });
  const [entries, keys, times] = [values.entries, values.keys, values.times].map(Number) as [number, number, number];
  const startedAt = new Date();
  const server = values.database === undefined ? await startPostgres() : null;
  const url = values.database ?? server?.url ?? null;
  if (url === null) throw new Error(`there is no PostgreSQL server: ${server?.why}`);
  await tuned(url);
  const database = await openPostgres({ url, poolSize: fillers, statementMs: 3_600_000 });
  try {
    if (server === null) await migrate(database);
    const filled = await (server === null
      ? filledAlready(database)
      : fillPostgres(database, { entries, keys, days: 30, now: Date.now() }));
    const days = await summing(database, filled.now);
    const log = (level: string, message: string, about?: unknown) => console.error(level, message, about);
    const reader = await openPostgres({ url, statementMs: bounds.reportMs });
    const reports = reportStoreOf(postgresReports({ database: reader, observer: { log } }));
    const size = (await reports.facts()).sizeBytes ?? 0;
    const figures = [
      figure("Time to insert an entry", filled.insertMs === 0 ? [] : [(filled.insertMs * 1_000) / entries], {
        unit: "µs",
        note: "by the server itself",
      }),
      days,
      figure("Database size", [size / 2 ** 20], { unit: "MB" }),
      ...(await answers(reports, { ...filled, directory: "", databasePath: "" }, times, { byP95: true })),
      ...(await folding(database, filled.now)),
      await pruning(database, filled.now),
    ];
    await reports.close();
    await reader.close();
    console.log(table(figures));
    await keepResult("postgres-reports", startedAt, { entries, keys, times, machine: describeMachine(), figures });
  } finally {
    await database.close();
    await server?.stop();
  }
}

/** Settings for new connections. The others are the same as in the tests: 64 MB of shared buffers. */
async function tuned(url: string): Promise<void> {
  const database = await openPostgres({ url, poolSize: 1 });
  await sql`alter database postgres set maintenance_work_mem = '256MB'`.execute(database.kysely);
  await database.close();
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
process.exit();
