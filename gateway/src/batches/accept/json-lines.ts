import { batchBounds } from "../batch-bounds.ts";

const lineFeed = 0x0a;

/** A line without its end; null: it is longer than a row may be. */
export interface JsonLine {
  readonly line: number;
  readonly bytes: Uint8Array | null;
}

/** The lines of a file, without empty ones. A byte-order mark and the carriage returns of Windows are removed. */
export async function* jsonLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<JsonLine, void, undefined> {
  let line = 1;
  let begun: Uint8Array[] = [];
  let size = 0;
  const cut = (rest: Uint8Array): Uint8Array | null => {
    const isTooLong = size + rest.length > batchBounds.rowBytesMax;
    const whole = begun.length === 0 || isTooLong ? rest : Buffer.concat([...begun, rest]);
    begun = [];
    size = 0;
    return isTooLong ? null : whole;
  };
  for await (const piece of pieces) {
    let from = 0;
    for (;;) {
      const end = piece.indexOf(lineFeed, from);
      if (end === -1) break;
      const bytes = cut(piece.subarray(from, end));
      const trimmed = bytes === null ? null : trim(bytes, line === 1);
      if (trimmed === null || trimmed.length > 0) yield { line, bytes: trimmed };
      line++;
      from = end + 1;
    }
    const rest = piece.subarray(from);
    size += rest.length;
    // Of a line that is too long, only the size is begun.
    if (size <= batchBounds.rowBytesMax) begun.push(rest.slice());
    else begun = [];
  }
  if (size === 0) return;
  const last = size > batchBounds.rowBytesMax ? null : trim(Buffer.concat(begun), line === 1);
  if (last === null || last.length > 0) yield { line, bytes: last };
}

function trim(bytes: Uint8Array, isFirst: boolean): Uint8Array {
  let start = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return bytes.subarray(start, end);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
