import { readFileSync, writeFileSync } from "node:fs";
import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { schemaState } from "../database/migrate.ts";
import { putSystemValue, systemValue } from "../database/system-values.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { isMissing } from "../disk/files.ts";

/** The mark in a data directory whose database has moved to a server. */
interface Moved {
  /** Server and database, without credentials. */
  readonly to: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Prevents a start on the old database. False: the file could not be written. */
export function markMoved({ moved }: DataPaths, mark: Moved): boolean {
  try {
    writeFileSync(moved, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

/** Throws DataUnusable if the database has moved to a server. */
export function refuseMoved({ moved, database }: DataPaths): void {
  const mark = markIn(moved);
  if (mark === null) return;
  throw new DataUnusable(
    `This installation moved to ${mark.to} at ${mark.at}: set SLUICE_DATABASE_URL. ${database} is as it was then; ` +
      `to continue with it, without later changes, remove ${moved}.`,
  );
}

/** Throws DataUnusable for a move to another database: two installations would share keys and budgets. */
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

/** A setting that exists while a move is incomplete. */
const mark = "move.under_way";
/** Session lock of the move. */
const moveLock = 5_310_045;

/** Empties what an interrupted move left. Throws DataUnusable if the database contains anything else. */
export async function beginMove({ kysely }: Database, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ got: number }>`select pg_try_advisory_lock(${moveLock}) as got`.execute(kysely);
  if (rows[0]?.got !== 1) throw new DataUnusable("Another move into this database is under way; wait for its end.");
  if (!(await isHalfMoved({ kysely }))) await refuseFilled({ kysely });
  await kysely.transaction().execute(async (transaction) => {
    await sql`truncate ${sql.join(tables.map((name) => sql.table(name)))}`.execute(transaction);
    await putSystemValue(transaction, mark, "1");
  });
}

/** Throws DataUnusable if there are tables of another program. */
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

/** Allows gateways to start on it. */
export async function endMove({ kysely }: Database): Promise<void> {
  await kysely.deleteFrom("settings").where("name", "=", mark).execute();
}

/** Throws DataUnusable if a move into this database is incomplete. */
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
