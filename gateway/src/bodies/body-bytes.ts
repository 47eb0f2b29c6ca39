/** A body: whole, or in the pieces in which it arrived. Joining many megabytes is work for a thread. */
export type BodyBytes = Uint8Array | readonly Uint8Array[];

export function sizeOf(bytes: BodyBytes): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.reduce((sum, { length }) => sum + length, 0);
}

/** The body in one piece; a single one is not copied. */
export function wholeOf(bytes: BodyBytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  return bytes.length === 1 && bytes[0] !== undefined ? bytes[0] : joined(bytes, () => {});
}

/** The same for pieces that are no longer needed: their memory is released as they are copied. */
export function wholeOfSpent(bytes: BodyBytes): Uint8Array {
  if (bytes instanceof Uint8Array || bytes.length === 1) return wholeOf(bytes);
  const lastIn = new Map(bytes.map(({ buffer }, index) => [buffer, index]));
  return joined(bytes, ({ buffer }, index) => {
    if (buffer instanceof ArrayBuffer && lastIn.get(buffer) === index) buffer.transfer(0);
  });
}

function joined(pieces: readonly Uint8Array[], copied: (piece: Uint8Array, index: number) => void): Uint8Array {
  const whole = new Uint8Array(sizeOf(pieces));
  let at = 0;
  pieces.forEach((piece, index) => {
    whole.set(piece, at);
    at += piece.length;
    copied(piece, index);
  });
  return whole;
}
