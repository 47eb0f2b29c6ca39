/**
 * Timestamps in the events of the bench upstream: `@` and fifteen digits of microseconds on its monotonic clock, inside the text of the
 * chunk. Every contender forwards the text unchanged, so the receiver can calculate the delay of the event.
 */
const mark = 0x40;
const digits = 15;
const stampBytes = digits + 1;

export function eventStamp(microseconds: number): string {
  return `@${Math.floor(microseconds).toString().padStart(digits, "0")}`;
}

/**
 * Finds timestamps in the bytes of one connection. A timestamp that is split between two reads is joined. The bytes between timestamps
 * are skipped with a native search.
 */
export class StampReader {
  #held: Buffer | null = null;

  /** Calls `found` with the microseconds of every complete timestamp in the bytes read so far. */
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
