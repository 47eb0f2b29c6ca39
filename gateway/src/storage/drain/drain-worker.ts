import { parentPort } from "node:worker_threads";
import { sql } from "kysely";
import { bounds, messageOf } from "#core/index.ts";
import { type Database, databaseNow } from "../database/database.ts";
import { openInThread, type ThreadPlace } from "../database/database-place.ts";
import { removeOpenAttempts } from "../journal/open-attempt-store.ts";
import { inIntent } from "../journal/record-text.ts";
import { insertChecks } from "../ledger/guardrail-checks.ts";
import { sumDay } from "../ledger/ledger-days.ts";
import { sumHours } from "../ledger/ledger-hours.ts";
import { ledgerRecordInsert } from "../ledger/ledger-insert.ts";
import { Drain, type DrainStore, type DrainTarget } from "./drain.ts";
import type { DrainOrder, DrainReport } from "./drain-thread.ts";

/** SQLite: a batch, so that its pages are not written before its end and read again. */
const cacheKb = 8_192;

/** Entry point of the drain's thread. Importing it starts the drain, so import it only in a thread. Only the newest target counts. */
if (parentPort !== null) listen(parentPort);

function listen(port: NonNullable<typeof parentPort>): void {
  const report = (message: DrainReport) => port.postMessage(message);
  let target: DrainTarget | null = null;
  let ending = false;
  let restAsked = false;
  let wake: () => void = () => undefined;

  port.on("message", (order: DrainOrder) => {
    if (order.type === "start") return void run(order);
    restAsked = order.type === "rest";
    if (order.type !== "rest") target = order.target;
    ending ||= order.type === "end";
    wake();
  });

  async function run(start: Extract<DrainOrder, { type: "start" }>): Promise<void> {
    const database = await openPatiently(start.place, report);
    const drain = new Drain({
      directory: start.directory,
      from: start.from,
      store: {
        insert: start.openAttempts ? removingOpen(database) : ledgerRecordInsert(database),
        insertChecks: (checks) => insertChecks(database, checks),
      },
      onStored: (settled) => report({ type: "stored", settled }),
      onProblem: (problem) => report({ type: "problem", problem }),
      wait: (ms) => Bun.sleep(ms),
    });
    const days = daySums(database);
    // Orders that arrive after the last report are ignored; the other side sends them to the next thread.
    const leave = async (last: DrainReport): Promise<void> => {
      await database.close();
      report(last);
      port.close();
    };
    for (;;) {
      const next = target;
      target = null;
      if (next !== null) await drain.advance(next);
      else if (ending) {
        drain.end();
        return await leave({ type: "ended" });
      } else if (restAsked) {
        restAsked = false;
        const from = drain.place;
        if (from === null || (await days.sum()) > 0) continue;
        drain.stop();
        return await leave({ type: "resting", from });
      } else await days.unless(new Promise<void>((resolve) => (wake = resolve)));
    }
  }
}

/**
 * SQLite: while there is nothing to drain, this thread sums completed days and hours. It already writes the ledger, and no call waits for
 * it. On PostgreSQL, one process does this for all.
 */
function daySums(database: Database) {
  let dueAt = performance.now() + bounds.summedDayFirstMs;
  const sum = async (): Promise<number> => {
    if (database.flavour.name === "postgres") return 0;
    // Retried later if it fails, for example because another process holds the write lock. The drain reports problems of the database.
    const summed = await database.kysely
      .selectNoFrom(databaseNow(database).as("now"))
      .executeTakeFirstOrThrow()
      .then(async ({ now }) => (await sumDay(database, now)) + (await sumHours(database, now)))
      .catch(() => 0);
    dueAt = performance.now() + (summed > 0 ? bounds.summedDayPauseMs : bounds.summedDayIdleMs);
    return summed;
  };
  return {
    /** Sums one day, and hours of one day. Resolves to 0 if nothing is due. */
    sum,
    /** Waits for the next order, and sums what becomes due meanwhile. */
    async unless(order: Promise<void>): Promise<void> {
      if (database.flavour.name === "postgres") return await order;
      const timer = Promise.withResolvers<"due">();
      const timeout = setTimeout(() => timer.resolve("due"), Math.max(0, dueAt - performance.now()));
      const first = await Promise.race([order, timer.promise]);
      clearTimeout(timeout);
      if (first === "due") await sum();
    },
  };
}

/** If the thread dies in between, the row remains until its process is recovered; its entry still counts once. */
function removingOpen(database: Database): DrainStore["insert"] {
  const insert = ledgerRecordInsert(database);
  return async (records) => {
    const count = await insert(records);
    await removeOpenAttempts(
      database,
      records.map((record) => record.text(inIntent.attemptId)),
    );
    return count;
  };
}

async function openPatiently(place: ThreadPlace, report: (message: DrainReport) => void): Promise<Database> {
  for (let waitMs: number = bounds.drainRetryMs; ; waitMs = Math.min(waitMs * 2, bounds.drainRetryMsMax)) {
    try {
      const database = await openInThread(place);
      if (database.flavour.name === "sqlite")
        await sql`pragma cache_size = -${sql.lit(cacheKb)}`.execute(database.kysely);
      report({ type: "problem", problem: null });
      return database;
    } catch (error) {
      report({ type: "problem", problem: `The database cannot be opened: ${messageOf(error)}` });
      await Bun.sleep(waitMs);
    }
  }
}
