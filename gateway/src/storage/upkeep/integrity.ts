import { sql } from "kysely";
import type { Connection } from "../database/database.ts";
import { hasCode } from "../disk/files.ts";

/**
 * Faults that SQLite finds, at most `linesMax`; empty: none. `quick` does not compare indexes with their tables. `table`: check only this
 * one. Takes long for large files.
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

/** Throws if the list is unreadable. */
export async function tableNames(connection: Connection): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'`.execute(connection);
  return rows.map(({ name }) => name);
}

/** The file is damaged. */
export function isCorruption(thrown: unknown): thrown is Error {
  return hasCode(thrown, /^SQLITE_(CORRUPT|NOTADB)/);
}
