const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const emptyBytes = new Uint8Array(0);

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Without a byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** A mark to search for in bytes. */
export function ascii(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

/** Replaces a range of bytes by a text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies edits, which must be ascending and not overlap. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let size = bytes.length;
  for (const { start, end, text } of edits) size += Buffer.byteLength(text) - (end - start);
  const source = asBuffer(bytes);
  // Unpooled: it may be transferred to a thread.
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

/** Up to about this size, the runtime copies bytes faster than it creates views. */
const copiedBytesMax = 4_096;

/** A Buffer of the same bytes, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Like `splice`, but returns pieces that share memory with `bytes`, unless they are short. Some may be empty. */
export function splicedPieces(bytes: Uint8Array, edits: readonly Edit[]): readonly Uint8Array[] {
  if (bytes.length <= copiedBytesMax) return [splice(bytes, edits)];
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of edits) {
    pieces.push(bytes.subarray(from, start), encodeText(text));
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

export function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const out = new Uint8Array(first.length + second.length);
  out.set(first, 0);
  out.set(second, first.length);
  return out;
}
