import { sql } from "kysely";
import type { Connection } from "../database/database.ts";
import { hasCode } from "../disk/files.ts";

/**
 * What SQLite finds wrong with a database's pages, in its own words and at most `linesMax` of them; none when it is
 * sound. `quick` leaves out whether the indexes agree with their tables. Takes as long as the file is large. Damage that
 * keeps SQLite from looking at all is found too. With a `table` it looks at that one and its indexes only.
 */
export async function integrityFaults(
  connection: Connection,
  depth: "quick" | "whole",
  table: string | null = null,
): Promise<readonly string[]> {
  const what = table === null ? sql.lit(linesMax) : sql.id(table);
  const check = depth === "quick" ? sql`pragma quick_check(${what})` : sql`pragma integrity_check(${what})`;
  try {
    const { rows } = await sql<Record<string, string>>`${check}`.execute(connection);
    return rows
      .flatMap((row) => Object.values(row))
      .filter((line) => line !== "ok")
      .slice(0, linesMax);
  } catch (thrown) {
    if (isCorruption(thrown)) return [thrown.message];
    throw thrown;
  }
}

const linesMax = 5;

/** Throws when the list itself cannot be read. */
export async function tableNames(connection: Connection): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'`.execute(connection);
  return rows.map(({ name }) => name);
}

/** The file itself is at fault, not who uses it. */
export function isCorruption(thrown: unknown): thrown is Error {
  return hasCode(thrown, /^SQLITE_(CORRUPT|NOTADB)/);
}
