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
 * How soon the console is answered on a PostgreSQL server with many entries, each of the questions that `console-reports.ts` asks of SQLite. It
 * starts a server of its own, fills it, and takes both away: ten million entries need 12 GB of disk and several minutes.
 *
 *     bun bench/src/postgres-reports.ts [--entries 10000000] [--keys 100000] [--times 20] [--database postgres://…]
 *
 * `--database`: one that an earlier run has filled. It is migrated, asked, and stays, without its oldest day.
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
    const asked = await openPostgres({ url, statementMs: bounds.reportMs });
    const reports = reportStoreOf(postgresReports({ database: asked, observer: { log } }));
    const size = (await reports.facts()).sizeBytes ?? 0;
    const figures = [
      figure("Filling the ledger, an entry", filled.insertMs === 0 ? [] : [(filled.insertMs * 1_000) / entries], {
        unit: "µs",
        note: "by the server itself",
      }),
      days,
      figure("The database on disk", [size / 2 ** 20], { unit: "MB" }),
      ...(await answers(reports, { ...filled, directory: "", databasePath: "" }, times, { byP95: true })),
      ...(await folding(database, filled.now)),
      await pruning(database, filled.now),
    ];
    await reports.close();
    await asked.close();
    console.log(table(figures));
    await keepResult("postgres-reports", startedAt, { entries, keys, times, machine: describeMachine(), figures });
  } finally {
    await database.close();
    await server?.stop();
  }
}

/** What takes effect with the next connection; the rest is as the tests have it: 64 MB of shared buffers. */
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
