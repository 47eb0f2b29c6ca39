import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";
import { exportedRow } from "#core/index.ts";
import type { Database } from "../database/database.ts";
import { cursorOf, isAfter, type PagePosition, parseCursor } from "../database/pages.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";

/** Per object: entries, and bytes before compression. */
const exportPartEntries = 50_000;
const exportPartBytes = 64 * 1024 * 1024;
const exportPageRows = 500;

export async function countHours({ kysely }: Database, hours: readonly number[]): Promise<readonly number[]> {
  const counts: number[] = [];
  for (const hour of hours) {
    const { entries } = await kysely
      .selectFrom("ledger_entries")
      .select((eb) => eb.fn.countAll<number | string>().as("entries"))
      .where("at", ">=", hour)
      .where("at", "<", hour + hourMs)
      .executeTakeFirstOrThrow();
    counts.push(Number(entries));
  }
  return counts;
}

/** Part of an hour: gzipped JSON Lines, oldest entry first. */
export interface ExportedPart {
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly entries: number;
  /** As text, because a sum may exceed 2^53. */
  readonly costNanoUsd: string;
  /** The start of the next part; null: this is the last. */
  readonly next: string | null;
}

/** An object is full when either is reached. */
const partLimits = { entries: exportPartEntries, bytes: exportPartBytes };

/** Deterministic, so that a repeated export replaces the object with the same bytes. */
export async function readPart(
  database: Database,
  hour: number,
  from: string | null,
  limits = partLimits,
): Promise<ExportedPart> {
  let place = from === null ? null : parseCursor(from);
  let entries = 0;
  let bytes = 0;
  let cost = 0n;
  let isOver = false;
  const lines = async function* () {
    while (entries < limits.entries && bytes < limits.bytes) {
      const read = await pageOf(database, hour, place, Math.min(exportPageRows, limits.entries - entries));
      const last = read.at(-1);
      isOver = last === undefined;
      if (last === undefined) return;
      place = { at: last.at, id: last.attemptId };
      for (const { costNanoUsd } of read) cost += BigInt(costNanoUsd);
      const text = read.map((entry) => `${JSON.stringify(exportedRow(entry))}\n`).join("");
      entries += read.length;
      bytes += text.length;
      yield text;
    }
  };
  const packed = await buffer(pipeline(Readable.from(lines()), createGzip(), () => undefined));
  return {
    bytes: new Uint8Array(packed),
    sha256: createHash("sha256").update(packed).digest("hex"),
    entries,
    costNanoUsd: String(cost),
    next: isOver || place === null ? null : cursorOf(place),
  };
}

async function pageOf({ kysely }: Database, hour: number, after: PagePosition | null, limit: number) {
  let query = kysely
    .selectFrom("ledger_entries")
    .select("record")
    .where("at", ">=", hour)
    .where("at", "<", hour + hourMs)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(limit);
  if (after !== null) query = query.where(isAfter(["at", "attempt_id"], after, "oldest first"));
  return (await query.execute()).map(storedEntry);
}
