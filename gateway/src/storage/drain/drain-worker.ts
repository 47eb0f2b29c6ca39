import { parentPort } from "node:worker_threads";
import { bounds } from "#core/index.ts";
import type { LedgerStore } from "#ports/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { openInThread, type SentPlace } from "../database/database-place.ts";
import { removeOpenAttempts } from "../journal/open-attempt-store.ts";
import { ledgerInsert } from "../ledger/ledger-insert.ts";
import { Drain, type DrainTarget } from "./drain.ts";
import type { DrainOrder, DrainReport } from "./drain-messages.ts";

/**
 * The thread of the drain: its entry point, so importing it does have an effect, and only in a thread. It obeys the
 * orders of drain-messages.ts and works on the newest target only.
 */
if (parentPort !== null) listen(parentPort);

function listen(port: NonNullable<typeof parentPort>): void {
  const report = (message: DrainReport) => port.postMessage(message);
  let target: DrainTarget | null = null;
  let ending = false;
  let wake: () => void = () => undefined;

  port.on("message", (order: DrainOrder) => {
    if (order.type === "start") {
      void run(order);
      return;
    }
    target = order.target;
    ending ||= order.type === "end";
    wake();
  });

  async function run(start: Extract<DrainOrder, { type: "start" }>): Promise<void> {
    const database = await openPatiently(start.place, report);
    const drain = new Drain({
      directory: start.directory,
      firstSegment: start.firstSegment,
      store: { insert: start.openAttempts ? removingOpen(database) : ledgerInsert(database) },
      onStored: (settled) => report({ type: "stored", settled }),
      onProblem: (problem) => report({ type: "problem", problem }),
      wait,
    });
    for (;;) {
      const next = target;
      target = null;
      if (next !== null) await drain.advance(next);
      else if (ending) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    drain.end();
    await closeDatabase(database);
    report({ type: "ended" });
    port.close();
  }
}

/** A row that stays, because the thread dies in between, is met again when its process is gone: its entry counts once. */
function removingOpen(database: Database): LedgerStore["insert"] {
  const insert = ledgerInsert(database);
  return async (entries) => {
    const count = await insert(entries);
    await removeOpenAttempts(
      database,
      entries.map(({ attemptId }) => attemptId),
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
      await wait(waitMs);
    }
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
