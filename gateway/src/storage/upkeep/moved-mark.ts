import { readFileSync, writeFileSync } from "node:fs";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { isMissing } from "../disk/journal-files.ts";

/** What stands in a data directory whose database has moved to a server. */
interface Moved {
  /** The server and its database, without user and password. */
  readonly to: string;
  /** ISO. */
  readonly at: string;
}

/** From here on the folder's own database is a copy of what was; a start on it would go on from before the move. False: it takes no file. */
export function markMoved({ moved }: DataPaths, mark: Moved): boolean {
  try {
    writeFileSync(moved, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

/** Refuses to go on with a database that has moved to a server. Throws DataUnusable, with the way back. */
export function refuseMoved({ moved, database }: DataPaths): void {
  const mark = markIn(moved);
  if (mark === null) return;
  throw new DataUnusable(
    `This installation moved to ${mark.to} at ${mark.at}: set SLUICE_DATABASE_URL. ${database} is as it was then; ` +
      `to go on from there, without what happened since, remove ${moved}.`,
  );
}

/** Refuses a second move into another database: two would go on with the same keys and budgets. Throws DataUnusable. */
export function refuseMovedElsewhere({ moved }: DataPaths, to: string): void {
  const mark = markIn(moved);
  if (mark === null || mark.to === to) return;
  throw new DataUnusable(
    `This installation moved to ${mark.to} at ${mark.at}. To move it again, without what happened since, remove ${moved}. ` +
      "Stop the gateways on the other database first: both would accept the same keys.",
  );
}

function markIn(path: string): Moved | null {
  try {
    const { to, at } = JSON.parse(readFileSync(path, "utf8")) as Partial<Moved>;
    return { to: String(to), at: String(at) };
  } catch (thrown) {
    return isMissing(thrown) ? null : { to: "PostgreSQL", at: "an unknown time" };
  }
}
