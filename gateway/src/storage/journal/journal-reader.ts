import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { bounds } from "#core/index.ts";
import type { JournalLeftovers, JournalRecord } from "#ports/index.ts";
import { setAsidePath } from "../disk/drain-set-aside.ts";
import { unlessMissing } from "../disk/files.ts";
import { putAside, removeSegment, segmentPath } from "../disk/journal-files.ts";
import { isRecord, parseRecord } from "./journal-record.ts";

/** Records of an earlier run that are read in one turn of the event loop. */
const leftoversTurnRecords = 256;

/**
 * Reads segments through a bounded window. Only an `owned` directory may be discarded; a `borrowed` one may belong to a running process,
 * which removes segments meanwhile.
 */
export function createLeftovers(
  directory: string,
  segments: readonly number[],
  hold: "owned" | "borrowed",
): JournalLeftovers {
  const damage: string[] = [];
  const damaged = new Set<number>();
  if (existsSync(setAsidePath(directory))) {
    damage.push(`${setAsidePath(directory)} contains entries that the database rejected`);
  }

  function* segmentRecords(segment: number): Generator<JournalRecord, void, undefined> {
    const file = unlessMissing(() => openSync(segmentPath(directory, segment), "r"));
    if (file === null) return;
    try {
      for (const line of journalLines(file, 0, Number.POSITIVE_INFINITY)) {
        if (isRecord(line.bytes, line.start, line.end)) {
          const record = parseRecord(line.bytes, line.start, line.end);
          if (record !== null) {
            yield record;
          } else {
            damaged.add(segment);
            damage.push(`${place(directory, segment, line)} has a type that this version does not support`);
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
          // Long journals are also read while calls are served.
          if (++read % leftoversTurnRecords === 0) await new Promise<void>((resolve) => setImmediate(resolve));
          yield record;
        }
      }
    },
    async discard() {
      if (hold === "borrowed") throw new Error(`The journal in ${directory} was opened for reading only.`);
      // Newest first: after a crash in between, an intent may be left whose entry exists already, but never a settlement alone.
      for (const segment of segments.toReversed()) {
        if (damaged.has(segment)) putAside(directory, segment);
        else removeSegment(directory, segment);
      }
    },
  };
}

function place(directory: string, segment: number, line: JournalLine): string {
  return `${basename(segmentPath(directory, segment))}: the line at byte ${line.offset}`;
}

/**
 * Complete records in a damaged line. If the line feed between two records is damaged, the second is found by its CRC, and the first is
 * everything before the damaged byte.
 */
export function* salvage(bytes: Buffer, start: number, end: number): Generator<JournalRecord, void, undefined> {
  for (let at = start + 1; at < end; at++) {
    if (!isRecord(bytes, at, end)) continue;
    const first = isRecord(bytes, start, at - 1) ? parseRecord(bytes, start, at - 1) : null;
    if (first !== null) yield first;
    const second = parseRecord(bytes, at, end);
    if (second !== null) yield second;
    return;
  }
}

/** A line in the reader's memory, valid until the next one is requested. `offset`: its position in the file. */
export interface JournalLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  /** Position of the next line in the file. */
  readonly nextOffset: number;
}

/**
 * Yields the complete lines of an open file between two offsets, through a bounded window. Returns the number of bytes at the end
 * without a line feed. A line that is too long for a record is yielded as an empty one, which no check accepts.
 */
export function* journalLines(
  file: number,
  from: number,
  to: number,
  bytes: Buffer = lineWindow(),
): Generator<JournalLine, number, undefined> {
  let held = 0;
  let windowOffset = from;
  let overlongAt = -1;
  for (;;) {
    const room = Math.min(windowBytes - held, to - windowOffset - held);
    const count = room > 0 ? readSync(file, bytes, held, room, windowOffset + held) : 0;
    if (count === 0) return overlongAt >= 0 ? windowOffset + held - overlongAt : held;
    held += count;
    let start = 0;
    for (let end = bytes.indexOf(lineFeed, 0); end >= 0 && end < held; end = bytes.indexOf(lineFeed, start)) {
      const nextOffset = windowOffset + end + 1;
      if (overlongAt >= 0) {
        yield { bytes, start: 0, end: 0, offset: overlongAt, nextOffset };
        overlongAt = -1;
      } else {
        yield { bytes, start, end, offset: windowOffset + start, nextOffset };
      }
      start = end + 1;
    }
    if (start === 0 && held === windowBytes) {
      if (overlongAt < 0) overlongAt = windowOffset;
      start = held;
    }
    bytes.copyWithin(0, start, held);
    held -= start;
    windowOffset += start;
  }
}

/** The window of `journalLines`, for readers that reuse it. */
export function lineWindow(): Buffer {
  return Buffer.allocUnsafe(windowBytes);
}

const lineFeed = 0x0a;
const windowBytes = bounds.journalRecordBytesMax * 2;
