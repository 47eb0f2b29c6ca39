import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";
import { exportedRow } from "#core/index.ts";
import type { Database } from "../database/database.ts";
import { cursorOf, isBehind, type Place, placeOf } from "../database/pages.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";

/** One object: its entries, and their bytes before compression. */
const exportPartEntries = 50_000;
const exportPartBytes = 64 * 1024 * 1024;
/** Rows that are read at once. */
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

/** A piece of an hour's copy: JSON Lines in gzip, oldest entry first. */
export interface ExportedPart {
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly entries: number;
  /** As text: sums of money may be more than a number holds. */
  readonly costNanoUsd: string;
  /** Where the next one begins; null: this is the last. */
  readonly next: string | null;
}

/** Of one object: at most so many entries, and when it is over so many bytes it is full. */
const partLimits = { entries: exportPartEntries, bytes: exportPartBytes };

/** The same entries are the same bytes: a copy that is made again replaces itself. */
export async function readPart(
  database: Database,
  hour: number,
  from: string | null,
  limits = partLimits,
): Promise<ExportedPart> {
  let place = from === null ? null : placeOf(from);
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

async function pageOf({ kysely }: Database, hour: number, after: Place | null, limit: number) {
  let query = kysely
    .selectFrom("ledger_entries")
    .select("record")
    .where("at", ">=", hour)
    .where("at", "<", hour + hourMs)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(limit);
  if (after !== null) query = query.where(isBehind(["at", "attempt_id"], after, "oldest first"));
  return (await query.execute()).map(storedEntry);
}
