import type { Broadcast } from "#ports/index.ts";
import { type BroadcastOptions, createPostgresBroadcast } from "./postgres-broadcast.ts";
import { createSilentBroadcast } from "./silent-broadcast.ts";

/** By what the database can do: PostgreSQL carries words between its processes, SQLite does not. */
export function openBroadcast(options: BroadcastOptions): Broadcast {
  return options.database.openSession === undefined ? createSilentBroadcast() : createPostgresBroadcast(options);
}
