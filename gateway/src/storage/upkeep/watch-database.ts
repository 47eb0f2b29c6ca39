import type { DatabasePlace } from "../database/database-place.ts";
import { type DatabaseWatch, watchDatabaseFile } from "./database-watch.ts";
import type { PostgresWatchOptions } from "./postgres-watch.ts";

export interface DatabaseWatchOptions extends PostgresWatchOptions {
  readonly place: DatabasePlace;
}

export async function watchDatabase({ place, ...options }: DatabaseWatchOptions): Promise<DatabaseWatch> {
  if (place.kind === "postgres") {
    const { watchPostgres } = await import("./postgres-watch.ts");
    return watchPostgres(options);
  }
  return await watchDatabaseFile({ ...options, databasePath: place.path });
}
