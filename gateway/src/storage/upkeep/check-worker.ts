import { workerData } from "node:worker_threads";
import { lowerPriority, serveOrders } from "#system/index.ts";
import { openReadOnly } from "../database/open-database.ts";
import { integrityFaults, isCorruption, tableNames } from "./integrity.ts";

/** The rest between two tables. */
const databaseCheckPauseMs = 50;

/**
 * The thread that checks the database, table by table: its entry point, so importing it does have an effect, and only in
 * a thread. Its reply is what is wrong with the database, nothing when it is sound; it fails when it could not look.
 */
serveOrders({ work: () => checked(workerData as string) });

async function checked(path: string): Promise<readonly string[]> {
  // Behind the other threads too.
  lowerPriority(10);
  const database = openReadOnly(path);
  try {
    const tables = await tableNames(database.kysely).catch(unlessCorrupt);
    if (typeof tables === "string") return [tables];
    for (const table of tables) {
      const faults = await integrityFaults(database.kysely, "quick", table);
      if (faults.length > 0) return faults;
      // No snapshot is held meanwhile, so the write-ahead file can be emptied.
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
