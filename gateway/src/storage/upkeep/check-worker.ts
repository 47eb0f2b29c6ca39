import { parentPort, workerData } from "node:worker_threads";
import { standBack } from "#system/index.ts";
import { closeDatabase } from "../database/database.ts";
import { openReadOnly } from "../database/open-database.ts";
import { integrityFaults, isCorruption, tableNames } from "./integrity.ts";

/** The rest between two tables. */
const databaseCheckPauseMs = 50;

/** What the thread says, once: what is wrong with the database (nothing when it is sound), or why it could not look. */
export type CheckReport = { readonly faults: readonly string[] } | { readonly problem: string };

/**
 * The thread that checks the database, table by table: its entry point, so importing it does have an effect, and only in
 * a thread. It ends when it has said what it found.
 */
if (parentPort !== null) {
  const port = parentPort;
  // Behind the other threads too.
  standBack(10);
  checked(workerData as string)
    .catch((thrown: unknown): CheckReport => ({ problem: thrown instanceof Error ? thrown.message : String(thrown) }))
    .then((report) => {
      port.postMessage(report);
      port.close();
    });
}

async function checked(path: string): Promise<CheckReport> {
  const database = openReadOnly(path);
  try {
    const tables = await tableNames(database.kysely).catch(unlessCorrupt);
    if (typeof tables === "string") return { faults: [tables] };
    for (const table of tables) {
      const faults = await integrityFaults(database.kysely, "quick", table);
      if (faults.length > 0) return { faults };
      // No snapshot is held meanwhile, so the write-ahead file can be emptied.
      await Bun.sleep(databaseCheckPauseMs);
    }
    return { faults: [] };
  } finally {
    await closeDatabase(database);
  }
}

function unlessCorrupt(thrown: unknown): string {
  if (isCorruption(thrown)) return thrown.message;
  throw thrown;
}
