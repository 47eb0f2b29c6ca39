/**
 * How an event of the bench upstream carries the moment it was sent: `@` and fifteen digits of microseconds on the
 * upstream's monotonic clock, inside the text of the chunk. Every contender passes it on untouched, so the receiver
 * can tell how long the event was on its way.
 */
const mark = 0x40;
const digits = 15;
const stampBytes = digits + 1;

export function eventStamp(microseconds: number): string {
  return `@${Math.floor(microseconds).toString().padStart(digits, "0")}`;
}

/**
 * Finds stamps in the bytes of one connection. A stamp that is split between two reads is put together again; the
 * bytes between stamps are never looked at one by one.
 */
export class StampReader {
  #held: Buffer | null = null;

  /** Calls `found` with the microseconds of every whole stamp in what has been read so far. */
  read(piece: Buffer, found: (microseconds: number) => void): void {
    const bytes = this.#held === null ? piece : Buffer.concat([this.#held, piece]);
    this.#held = null;
    let at = bytes.indexOf(mark);
    while (at !== -1) {
      if (at + stampBytes > bytes.length) {
        this.#held = Buffer.from(bytes.subarray(at));
        return;
      }
      const value = stampValue(bytes, at + 1);
      if (value !== null) found(value);
      at = bytes.indexOf(mark, at + (value === null ? 1 : stampBytes));
    }
  }
}

function stampValue(bytes: Buffer, from: number): number | null {
  let value = 0;
  for (let index = from; index < from + digits; index++) {
    const digit = (bytes[index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}
