import { sql } from "kysely";
import type { Connection } from "./database.ts";

/**
 * What SQLite finds wrong with a database's pages, in its own words and at most `linesMax` of them; none when it is
 * sound. `quick` leaves out whether the indexes agree with their tables. Takes as long as the file is large. Damage that
 * keeps SQLite from looking at all is found too.
 */
export async function integrityFaults(connection: Connection, depth: "quick" | "whole"): Promise<readonly string[]> {
  const check = sql.raw<Record<string, string>>(
    `pragma ${depth === "quick" ? "quick" : "integrity"}_check(${linesMax})`,
  );
  try {
    const { rows } = await check.execute(connection);
    return rows.flatMap((row) => Object.values(row)).filter((line) => line !== "ok");
  } catch (thrown) {
    if (isCorruption(thrown)) return [thrown.message];
    throw thrown;
  }
}

const linesMax = 5;

/** The file itself is at fault, not who uses it. */
export function isCorruption(thrown: unknown): thrown is Error {
  if (!(thrown instanceof Error) || !("code" in thrown)) return false;
  return /^SQLITE_(CORRUPT|NOTADB)/.test(String(thrown.code));
}
