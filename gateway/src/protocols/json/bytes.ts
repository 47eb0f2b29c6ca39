const encoder = new TextEncoder();

/** A range of bytes, and the text that takes its place. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Bytes with the ranges of `edits` replaced. Edits are in ascending order and do not overlap. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let size = bytes.length;
  for (const { start, end, text } of edits) size += Buffer.byteLength(text) - (end - start);
  const source = asBuffer(bytes);
  // With memory of its own: it may be given to a thread.
  const out = Buffer.allocUnsafeSlow(size);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of edits) {
    to += source.copy(out, to, from, start);
    to += out.write(text, to);
    from = end;
  }
  source.copy(out, to, from);
  return out;
}

/** The same bytes, for the runtime's own searches. Most are one: a view of bytes that have no buffer of their own yet costs a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The same, not put together: what stays is a part of `bytes` itself. None is empty. */
export function splicedPieces(bytes: Uint8Array, edits: readonly Edit[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of edits) {
    pieces.push(bytes.subarray(from, start), encoder.encode(text));
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return pieces.filter(({ length }) => length > 0);
}

export function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const out = new Uint8Array(first.length + second.length);
  out.set(first, 0);
  out.set(second, first.length);
  return out;
}
