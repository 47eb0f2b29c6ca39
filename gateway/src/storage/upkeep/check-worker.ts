import { workerData } from "node:worker_threads";
import { lowerPriority, serveOrders } from "#system/index.ts";
import { openReadOnly } from "../database/open-database.ts";
import { integrityFaults, isCorruption, tableNames } from "./integrity.ts";

/** Pause between two tables. */
const databaseCheckPauseMs = 50;

/** Entry point of the thread that checks the database by tables. Replies with the faults; fails if it could not check. */
serveOrders({ work: () => checked(workerData as string) });

async function checked(path: string): Promise<readonly string[]> {
  // Lower than other threads.
  lowerPriority(10);
  const database = openReadOnly(path);
  try {
    const tables = await tableNames(database.kysely).catch(unlessCorrupt);
    if (typeof tables === "string") return [tables];
    for (const table of tables) {
      const faults = await integrityFaults(database.kysely, "quick", table);
      if (faults.length > 0) return faults;
      // No snapshot is open in the pause, so the write-ahead file can be truncated.
      await Bun.sleep(databaseCheckPauseMs);
    }
    return [];
  } finally {
    await database.close();
  }
}

function unlessCorrupt(thrown: unknown): string {
  if (isCorruption(thrown)) return thrown.message;
  throw thrown;
}
