/** Bytes of any size that are made when they are sent. */
export interface ByteSource {
  /** The media type. */
  readonly type: string;
  readonly size: number;
  /** The bytes from `from` up to, not including, `to`. */
  piece(from: number, to: number): Uint8Array;
}

export function bytesOf(type: string, bytes: Uint8Array): ByteSource {
  return { type, size: bytes.length, piece: (from, to) => bytes.subarray(from, to) };
}

/**
 * `start` followed by filling up to `size` bytes. The filling's period is a prime, so that a piece that is put in the
 * wrong place is seen.
 */
export function filledBytes(type: string, start: Uint8Array, size: number): ByteSource {
  return {
    type,
    size: Math.max(size, start.length),
    piece(from, to) {
      const piece = new Uint8Array(Math.max(0, to - from));
      let at = from;
      if (at < start.length) {
        piece.set(start.subarray(at, to));
        at = Math.min(to, start.length);
      }
      while (at < to) {
        const within = at % filling.length;
        const some = filling.subarray(within, within + (to - at));
        piece.set(some, at - from);
        at += some.length;
      }
      return piece;
    },
  };
}

const filling = new Uint8Array(65_521);
for (let index = 0; index < filling.length; index += 1) filling[index] = (index * 31 + (index >> 8)) & 0xff;
