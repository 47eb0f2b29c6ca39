import { bounds } from "#core/index.ts";
import { type JournalFiles, segmentPath } from "../disk/journal-files.ts";
import { recordHeadBytes } from "./journal-record.ts";

interface SegmentOptions {
  readonly directory: string;
  readonly files: JournalFiles;
  readonly firstSegment: number;
  readonly segmentBytes: number;
  /** Called with the open file of each full segment, to sync and close it. */
  readonly retire: (file: number) => void;
}

/**
 * Writes to the current segment and starts the next one when it is full. `end` is the end of the last complete record: bytes after it,
 * from a failed write, are truncated before the next write, so an incomplete record can only be the last.
 */
export class JournalSegment {
  readonly #files: JournalFiles;
  readonly #options: SegmentOptions;
  #file: number;
  #number: number;
  #end = 0;
  #torn = false;
  #problem: unknown = null;
  #rotateAt: number;

  constructor(options: SegmentOptions) {
    this.#options = options;
    this.#files = options.files;
    this.#rotateAt = options.segmentBytes;
    this.#number = options.firstSegment;
    this.#file = options.files.create(segmentPath(options.directory, this.#number));
  }

  get file(): number {
    return this.#file;
  }

  get number(): number {
    return this.#number;
  }

  get end(): number {
    return this.#end;
  }

  get problem(): unknown {
    return this.#problem;
  }

  /**
   * Writes as many complete records as the disk accepts and returns their bytes. If they are fewer than `length`, `problem` is the
   * error.
   */
  write(bytes: Buffer, length: number): number {
    let done = 0;
    try {
      if (this.#torn) this.#cut();
      if (this.#end >= this.#rotateAt) this.#rotate();
      while (done < length) {
        const written = this.#files.write(this.#file, bytes, done, length - done, this.#end + done);
        if (written <= 0) throw new Error("The disk accepted no bytes.");
        done += written;
      }
    } catch (error) {
      this.#problem = error;
      const whole = done === 0 ? 0 : bytes.lastIndexOf(lineFeed, done - 1) + 1;
      this.#end += whole;
      this.#torn = true;
      this.#tryCut();
      return whole;
    }
    this.#end += length;
    return length;
  }

  /** Writes and removes test bytes. They contain no line feed, so readers skip them as an incomplete record. */
  hasRoom(): boolean {
    if (this.write(probeBytes, probeBytes.length) < probeBytes.length) return false;
    // Also if the write started another segment.
    this.#end -= probeBytes.length;
    this.#torn = true;
    this.#tryCut();
    return !this.#torn;
  }

  #cut(): void {
    this.#files.truncate(this.#file, this.#end);
    this.#torn = false;
  }

  #tryCut(): void {
    try {
      this.#cut();
    } catch {
      // The next write truncates first, and readers skip an incomplete record at the end.
    }
  }

  #rotate(): void {
    let file: number;
    try {
      file = this.#files.create(segmentPath(this.#options.directory, this.#number + 1));
    } catch {
      // No room for another file: continue in this one and retry later.
      this.#rotateAt = this.#end + bounds.journalRecordBytesMax;
      return;
    }
    const full = this.#file;
    this.#file = file;
    this.#number += 1;
    this.#end = 0;
    this.#rotateAt = this.#options.segmentBytes;
    this.#options.retire(full);
  }
}

const lineFeed = 0x0a;
const probeBytes = Buffer.alloc(bounds.journalBufferBytes);

/** Encoded records that wait for the next write, in one reused buffer. */
export class JournalBuffer {
  #bytes = Buffer.allocUnsafe(startBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Returns false, with nothing added, if the record is too large for a reader. */
  append(type: number, json: string): boolean {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.#reserve(recordHeadBytes + json.length * 3 + 1);
    const bytes = this.#bytes;
    const start = this.#length;
    const jsonBytes = bytes.write(json, start + recordHeadBytes, "utf8");
    if (jsonBytes + recordHeadBytes > bounds.journalRecordBytesMax) return false;
    const end = start + recordHeadBytes + jsonBytes;
    bytes[start + 8] = 0x20;
    bytes[start + 9] = type;
    bytes[start + 10] = 0x20;
    writeHex(bytes, start, Bun.hash.crc32(bytes.subarray(start + 9, end)));
    bytes[end] = 0x0a;
    this.#length = end + 1;
    return true;
  }

  /** Drops the first `length` bytes, which were written. */
  dropFirst(length: number): void {
    if (length < this.#length) this.#bytes.copyWithin(0, length, this.#length);
    this.#length -= length;
    // Free the backlog of a full disk once it is written.
    if (this.#length === 0 && this.#bytes.length > keepBytesMax) this.#bytes = Buffer.allocUnsafe(startBytes);
  }

  /** Number of records of these types. */
  count(...types: readonly number[]): number {
    let count = 0;
    for (let start = 0; start < this.#length; start = this.#bytes.indexOf(0x0a, start) + 1) {
      if (types.includes(this.#bytes[start + 9] ?? 0)) count += 1;
    }
    return count;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const startBytes = bounds.journalBufferBytes * 2;
const keepBytesMax = 4 * 1024 * 1024;
const hexDigits = Buffer.from("0123456789abcdef", "latin1");

function writeHex(bytes: Buffer, start: number, value: number): void {
  let rest = value;
  for (let at = start + 7; at >= start; at--) {
    bytes[at] = hexDigits[rest & 15] ?? 0;
    rest >>>= 4;
  }
}
