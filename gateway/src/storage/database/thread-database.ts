import { workerData } from "node:worker_threads";
import { trustAsTheProcess } from "#system/index.ts";
import { closeDatabase, type Database } from "./database.ts";
import { openInThread, type SentPlace } from "./database-place.ts";

export interface ThreadDatabase {
  /** Rejects when it cannot be opened or prepared; the next order tries again. */
  open(): Promise<Database>;
  close(): Promise<void>;
}

/** The database whose place a thread was started with: opened with the thread's first order, and prepared for it. */
export function threadDatabase(prepare: (database: Database) => Promise<void> = async () => undefined): ThreadDatabase {
  let opened: Promise<Database> | null = null;
  const openFirst = async (): Promise<Database> => {
    trustAsTheProcess();
    const database = await openInThread(workerData as SentPlace);
    await prepare(database);
    return database;
  };
  return {
    open() {
      opened ??= openFirst().catch((thrown) => {
        opened = null;
        throw thrown;
      });
      return opened;
    },
    async close() {
      if (opened !== null) await closeDatabase(await opened);
    },
  };
}
