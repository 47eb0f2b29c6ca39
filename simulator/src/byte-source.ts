/** A source of bytes that are generated when they are sent. */
export interface ByteSource {
  /** The media type. */
  readonly type: string;
  readonly size: number;
  /** The bytes from `from` up to but not including `to`. */
  piece(from: number, to: number): Uint8Array;
}

export function bytesOf(type: string, bytes: Uint8Array): ByteSource {
  return { type, size: bytes.length, piece: (from, to) => bytes.subarray(from, to) };
}

/** Extends `start` to `size` bytes. The filler has a prime period, so that a misplaced piece is detected. */
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
        const offset = at % filler.length;
        const part = filler.subarray(offset, offset + (to - at));
        piece.set(part, at - from);
        at += part.length;
      }
      return piece;
    },
  };
}

const filler = new Uint8Array(65_521);
for (let index = 0; index < filler.length; index += 1) filler[index] = (index * 31 + (index >> 8)) & 0xff;
