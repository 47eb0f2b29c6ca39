import { workerData } from "node:worker_threads";
import type { Secret } from "#core/index.ts";
import { trustAsTheProcess } from "#system/index.ts";
import type { Database } from "./database.ts";
import { openDatabase } from "./open-database.ts";
import type { PostgresOptions } from "./postgres/open-postgres.ts";
import { postgresSettings } from "./postgres/postgres-settings.ts";

/** Which database an installation has its data in. The address of a server holds a password, and prints as `[redacted]`. */
export type DatabasePlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: Secret };

/** The same as it is sent to a thread, which opens a connection of its own. Never to be logged. */
export type ThreadPlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly address: string };

export function threadPlace(place: DatabasePlace): ThreadPlace {
  return place.kind === "sqlite" ? place : { kind: "postgres", address: place.url.reveal() };
}

/** Opens (but does not migrate) the database of an installation; a file that is missing is made. */
export async function openPlace(place: DatabasePlace, further: Omit<PostgresOptions, "url"> = {}): Promise<Database> {
  if (place.kind === "sqlite") return openDatabase({ path: place.path });
  const { openPostgres } = await import("./postgres/open-postgres.ts");
  return await openPostgres({ url: place.url.reveal(), ...further });
}

/** The place in words, without user and password. */
export function placeLabel(place: DatabasePlace): string {
  return place.kind === "sqlite" ? place.path : `PostgreSQL (${postgresSettings(place.url.reveal()).place})`;
}

/** For a thread beside the process that has the database open: one connection, and never an empty database. */
export async function openInThread(place: ThreadPlace): Promise<Database> {
  if (place.kind === "sqlite") return openDatabase({ path: place.path, create: false });
  const { openPostgres } = await import("./postgres/open-postgres.ts");
  return await openPostgres({ url: place.address, poolSize: 1, isChecked: true });
}

/**
 * The database whose place a thread was started with: opened with the thread's first order, and prepared for it. `open` rejects when it
 * cannot be opened or prepared; the next order tries again.
 */
export function threadDatabase(prepare: (database: Database) => Promise<void> = async () => undefined) {
  let opened: Promise<Database> | null = null;
  const openFirst = async (): Promise<Database> => {
    trustAsTheProcess();
    const database = await openInThread(workerData as ThreadPlace);
    await prepare(database);
    return database;
  };
  return {
    open(): Promise<Database> {
      opened ??= openFirst().catch((thrown) => {
        opened = null;
        throw thrown;
      });
      return opened;
    },
    async close(): Promise<void> {
      if (opened !== null) await (await opened).close();
    },
  };
}
