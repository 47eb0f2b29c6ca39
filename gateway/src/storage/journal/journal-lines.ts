import { readSync } from "node:fs";
import { bounds } from "#core/index.ts";

/** One line in a reader's memory; good until the next line is asked for. `offset` is where it begins in the file. */
export interface JournalLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  /** Where the next line begins in the file. */
  readonly nextOffset: number;
}

/**
 * The whole lines of an open file from one offset up to another (or to its end), in pieces of bounded size.
 * Bytes without a line feed at the end are not a line: the generator returns how many there were. A line longer than
 * any record can be comes out as an empty one, which no check takes for a record.
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

/** The memory that `journalLines` reads through; a reader that comes again can bring its own. */
export function lineWindow(): Buffer {
  return Buffer.allocUnsafe(windowBytes);
}

const lineFeed = 0x0a;
const windowBytes = bounds.journalRecordBytesMax * 2;
