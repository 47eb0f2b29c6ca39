import { bounds } from "#core/index.ts";
import { recordHeadBytes } from "./journal-record.ts";

/** Encoded records that wait for the next write, in one reused piece of memory. */
export class JournalBuffer {
  #bytes = Buffer.allocUnsafe(startBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** False, with nothing added, when the record is larger than a reader would take. */
  append(letter: number, json: string): boolean {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.#reserve(recordHeadBytes + json.length * 3 + 1);
    const bytes = this.#bytes;
    const start = this.#length;
    const jsonBytes = bytes.write(json, start + recordHeadBytes, "utf8");
    if (jsonBytes + recordHeadBytes > bounds.journalRecordBytesMax) return false;
    const end = start + recordHeadBytes + jsonBytes;
    bytes[start + 8] = 0x20;
    bytes[start + 9] = letter;
    bytes[start + 10] = 0x20;
    writeHex(bytes, start, Bun.hash.crc32(bytes.subarray(start + 9, end)));
    bytes[end] = 0x0a;
    this.#length = end + 1;
    return true;
  }

  /** Forgets everything after `length`. */
  cut(length: number): void {
    this.#length = Math.min(length, this.#length);
    // A backlog of a full disk is given back once it is written.
    if (length === 0 && this.#bytes.length > keepBytesMax) this.#bytes = Buffer.allocUnsafe(startBytes);
  }

  /** Forgets the first `length` bytes, whole records that were written. */
  dropFirst(length: number): void {
    if (length < this.#length) this.#bytes.copyWithin(0, length, this.#length);
    this.cut(this.#length - length);
  }

  /** How many of the records are of one of these letters. */
  count(...letters: readonly number[]): number {
    let count = 0;
    for (let start = 0; start < this.#length; start = this.#bytes.indexOf(0x0a, start) + 1) {
      if (letters.includes(this.#bytes[start + 9] ?? 0)) count += 1;
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
