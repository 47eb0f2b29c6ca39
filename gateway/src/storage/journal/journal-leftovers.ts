import { closeSync, existsSync, openSync } from "node:fs";
import { basename } from "node:path";
import type { JournalLeftovers, JournalRecord } from "#ports/index.ts";
import { setAsidePath } from "../disk/drain-set-aside.ts";
import { isMissing, putAside, removeSegment, segmentPath } from "../disk/journal-files.ts";
import { type JournalLine, journalLines } from "./journal-lines.ts";
import { isRecord, parseRecord } from "./journal-record.ts";

/** Records of an earlier run that are read in one turn of the event loop. */
const leftoversTurnRecords = 256;

/**
 * Reads segments one after another through a bounded window. Only an `owned` directory may be discarded; a `borrowed`
 * one may belong to a running process, which removes segments while they are read.
 */
export function createLeftovers(
  directory: string,
  segments: readonly number[],
  hold: "owned" | "borrowed",
): JournalLeftovers {
  const damage: string[] = [];
  const damaged = new Set<number>();
  if (existsSync(setAsidePath(directory))) {
    damage.push(`${setAsidePath(directory)} holds entries that the database would not take`);
  }

  function* segmentRecords(segment: number): Generator<JournalRecord, void, undefined> {
    const file = openSegment(directory, segment);
    if (file === null) return;
    try {
      for (const line of journalLines(file, 0, Number.POSITIVE_INFINITY)) {
        if (isRecord(line.bytes, line.start, line.end)) {
          const record = parseRecord(line.bytes, line.start, line.end);
          if (record !== null) {
            yield record;
          } else {
            damaged.add(segment);
            damage.push(`${place(directory, segment, line)} is of a kind this version does not know`);
          }
        } else {
          damaged.add(segment);
          damage.push(`${place(directory, segment, line)} is damaged`);
          yield* salvage(line.bytes, line.start, line.end);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  return {
    damage,
    async *records() {
      let read = 0;
      for (const segment of segments) {
        for (const record of segmentRecords(segment)) {
          // Long journals are also read beside calls.
          if (++read % leftoversTurnRecords === 0) await new Promise<void>((resolve) => setImmediate(resolve));
          yield record;
        }
      }
    },
    async discard() {
      if (hold === "borrowed") throw new Error(`The journal in ${directory} was opened for reading only.`);
      // Newest first: a crash in between then leaves intents whose entries exist already, never a settlement alone.
      for (const segment of segments.toReversed()) {
        if (damaged.has(segment)) putAside(directory, segment);
        else removeSegment(directory, segment);
      }
    },
  };
}

function openSegment(directory: string, segment: number): number | null {
  try {
    return openSync(segmentPath(directory, segment), "r");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function place(directory: string, segment: number, line: JournalLine): string {
  return `${basename(segmentPath(directory, segment))}: the line at byte ${line.offset}`;
}

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
