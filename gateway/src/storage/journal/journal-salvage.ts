import type { JournalRecord } from "#ports/index.ts";
import { isRecord, parseRecord } from "./journal-record.ts";

/**
 * Whole records inside a damaged line. When the line feed between two records is the byte that went bad, both are
 * still there: the second is found by its CRC, and the first is what stands before the lost line feed.
 */
export function* salvage(bytes: Buffer, start: number, end: number): Generator<JournalRecord, void, undefined> {
  for (let at = start + 1; at < end; at++) {
    if (!isRecord(bytes, at, end)) continue;
    if (isRecord(bytes, start, at - 1)) yield* whole(bytes, start, at - 1);
    yield* whole(bytes, at, end);
    return;
  }
}

function* whole(bytes: Buffer, start: number, end: number): Generator<JournalRecord, void, undefined> {
  const record = parseRecord(bytes, start, end);
  if (record !== null) yield record;
}
