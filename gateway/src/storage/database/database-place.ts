import { workerData } from "node:worker_threads";
import type { Secret } from "#core/index.ts";
import { inheritAuthorities } from "#system/index.ts";
import type { Database } from "./database.ts";
import { openDatabase } from "./open-database.ts";
import type { PostgresOptions } from "./postgres/open-postgres.ts";
import { postgresSettings } from "./postgres/postgres-settings.ts";

/** The database of an installation. `url` contains a password and prints as `[redacted]`. */
export type DatabasePlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: Secret };

/** The same for a thread. Contains the password: never log it. */
export type ThreadPlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly address: string };

export function threadPlace(place: DatabasePlace): ThreadPlace {
  return place.kind === "sqlite" ? place : { kind: "postgres", address: place.url.reveal() };
}

/** Opens the database without migrating it. Creates a missing file. */
export async function openPlace(place: DatabasePlace, further: Omit<PostgresOptions, "url"> = {}): Promise<Database> {
  if (place.kind === "sqlite") return openDatabase({ path: place.path });
  const { openPostgres } = await import("./postgres/open-postgres.ts");
  return await openPostgres({ url: place.url.reveal(), ...further });
}

/** For messages, without credentials. */
export function placeLabel(place: DatabasePlace): string {
  return place.kind === "sqlite" ? place.path : `PostgreSQL (${postgresSettings(place.url.reveal()).place})`;
}

/** Opens one connection for a thread; never creates a file. */
export async function openInThread(place: ThreadPlace): Promise<Database> {
  if (place.kind === "sqlite") return openDatabase({ path: place.path, create: false });
  const { openPostgres } = await import("./postgres/open-postgres.ts");
  return await openPostgres({ url: place.address, poolSize: 1, isChecked: true });
}

/** The database of a thread, opened and prepared on first use. If that fails, `open` rejects and the next call tries again. */
export function threadDatabase(prepare: (database: Database) => Promise<void> = async () => undefined) {
  let opened: Promise<Database> | null = null;
  const openFirst = async (): Promise<Database> => {
    inheritAuthorities();
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
