import { readFileSync, writeFileSync } from "node:fs";
import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { schemaState } from "../database/migrate.ts";
import { putSystemValue, systemValue } from "../database/system-values.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { isMissing } from "../disk/files.ts";

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

/** A setting that stands in a database from the first row that is moved into it until all of them are there. */
const mark = "move.under_way";
/** Of the session that moves: two at once would mix. */
const moveLock = 5_310_045;

/** Empties what an earlier move has left, and refuses a database that holds anything else. */
export async function beginMove({ kysely }: Database, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ got: number }>`select pg_try_advisory_lock(${moveLock}) as got`.execute(kysely);
  if (rows[0]?.got !== 1) throw new DataUnusable("Another move into this database is under way; wait for its end.");
  if (!(await isHalfMoved({ kysely }))) await refuseFilled({ kysely });
  await kysely.transaction().execute(async (transaction) => {
    await sql`truncate ${sql.join(tables.map((name) => sql.table(name)))}`.execute(transaction);
    await putSystemValue(transaction, mark, "1");
  });
}

/** Refuses a database that was never migrated and has tables all the same: they are another program's. */
export async function refuseOtherTables(database: Database): Promise<void> {
  if ((await schemaState(database)).state !== "empty") return;
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() order by name limit 3`.execute(database.kysely);
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(", ");
  throw new DataUnusable(
    `This database has tables of another program (${names}); name an empty one. Nothing was changed.`,
  );
}

/** From here on gateways may start on it. */
export async function endMove({ kysely }: Database): Promise<void> {
  await kysely.deleteFrom("settings").where("name", "=", mark).execute();
}

/** Refuses to begin on a database that an installation is being moved into, or was not moved into whole. */
export async function refuseHalfMoved(database: Pick<Database, "kysely">): Promise<void> {
  if (!(await isHalfMoved(database))) return;
  throw new DataUnusable(
    "An installation is being moved into this database, or that broke off: run `sluice migrate --from <folder>` to its end first.",
  );
}

async function isHalfMoved({ kysely }: Pick<Database, "kysely">): Promise<boolean> {
  return (await systemValue(kysely, mark)) !== null;
}

async function refuseFilled({ kysely }: Pick<Database, "kysely">): Promise<void> {
  const { rows } = await sql<{ filled: number }>`
    select exists (select from settings where name = 'vault.fingerprint') or exists (select from workspaces)
      or exists (select from ledger_entries) as filled`.execute(kysely);
  if (rows[0]?.filled === 1) {
    throw new DataUnusable("This database holds an installation already; name an empty one. Nothing was changed.");
  }
}
