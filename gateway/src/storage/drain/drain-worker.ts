import { parentPort } from "node:worker_threads";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import { closeDatabase, type Database, databaseNow } from "../database/database.ts";
import { openInThread, type SentPlace } from "../database/database-place.ts";
import { removeOpenAttempts } from "../journal/open-attempt-store.ts";
import { ledgerPlaces } from "../ledger/ledger-columns.ts";
import { sumDay } from "../ledger/ledger-days.ts";
import { ledgerValuesInsert } from "../ledger/ledger-insert.ts";
import { Drain, type DrainPlace, type DrainStore, type DrainTarget } from "./drain.ts";
import type { DrainOrder, DrainReport } from "./drain-thread.ts";

/**
 * The thread of the drain: its entry point, so importing it does have an effect, and only in a thread. It obeys the
 * orders of drain-messages.ts and works on the newest target only.
 */
if (parentPort !== null) listen(parentPort);

function listen(port: NonNullable<typeof parentPort>): void {
  const report = (message: DrainReport) => port.postMessage(message);
  let target: DrainTarget | null = null;
  let ending = false;
  let restAsked = false;
  let wake: () => void = () => undefined;

  port.on("message", (order: DrainOrder) => {
    if (order.type === "start") {
      void run(order);
      return;
    }
    if (order.type === "rest") {
      restAsked = true;
    } else {
      target = order.target;
      restAsked = false;
      ending ||= order.type === "end";
    }
    wake();
  });

  async function run(start: Extract<DrainOrder, { type: "start" }>): Promise<void> {
    const database = await openPatiently(start.place, report);
    const drain = new Drain({
      directory: start.directory,
      from: start.from,
      store: { insert: start.openAttempts ? removingOpen(database) : ledgerValuesInsert(database) },
      onStored: (settled) => report({ type: "stored", settled }),
      onProblem: (problem) => report({ type: "problem", problem }),
      wait: (ms) => Bun.sleep(ms),
    });
    const days = daySums(database);
    for (;;) {
      const next = target;
      target = null;
      if (next !== null) await drain.advance(next);
      else if (ending) break;
      else if (restAsked) {
        restAsked = false;
        const from = drain.place;
        if (from === null || (await days.sum()) > 0) continue;
        return await rest(drain, database, from);
      } else await days.unless(new Promise<void>((resolve) => (wake = resolve)));
    }
    drain.end();
    await closeDatabase(database);
    report({ type: "ended" });
    port.close();
  }

  /** What it is told from here on it does not hear: the other side tells the next one. */
  async function rest(drain: Drain, database: Database, from: DrainPlace): Promise<void> {
    drain.stop();
    await closeDatabase(database);
    report({ type: "resting", from });
    port.close();
  }
}

/**
 * SQLite: while there is nothing to drain, days that are over are summed; here, because this thread has the ledger's writes and no
 * call waits for it. On PostgreSQL one process of all does so.
 */
function daySums(database: Database) {
  let dueAt = performance.now() + bounds.summedDayFirstMs;
  const sum = async (): Promise<number> => {
    if (database.flavour.name === "postgres") return 0;
    // One that fails (another process writes for long) is tried again later; what the database cannot do the drain itself tells of.
    const summed = await timeOf(database)
      .then((now) => sumDay(database, now))
      .catch(() => 0);
    dueAt = performance.now() + (summed > 0 ? bounds.summedDayPauseMs : bounds.summedDayIdleMs);
    return summed;
  };
  return {
    /** Sums one now. How many rows it summed: 0 when no day waits for it. */
    sum,
    /** Waits for the order, or until a day is due, and then sums it. */
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

async function timeOf(database: Database): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${databaseNow(database)} as now`.execute(database.kysely);
  return rows[0]?.now ?? 0;
}

/** A row that stays, because the thread dies in between, is met again when its process is gone: its entry counts once. */
function removingOpen(database: Database): DrainStore["insert"] {
  const insert = ledgerValuesInsert(database);
  return async (entries, objects) => {
    const count = await insert(entries, objects);
    await removeOpenAttempts(
      database,
      entries.map((entry) => String(entry[ledgerPlaces.attempt_id])),
    );
    return count;
  };
}

async function openPatiently(place: SentPlace, report: (message: DrainReport) => void): Promise<Database> {
  for (let waitMs: number = bounds.drainRetryMs; ; waitMs = Math.min(waitMs * 2, bounds.drainRetryMsMax)) {
    try {
      const database = await openInThread(place);
      report({ type: "problem", problem: null });
      return database;
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      report({ type: "problem", problem: `The database cannot be opened: ${detail}` });
      await Bun.sleep(waitMs);
    }
  }
}
