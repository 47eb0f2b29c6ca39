const encoder = new TextEncoder();

/** A range of bytes, and the text that takes its place. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Bytes with the ranges of `edits` replaced. Edits are in ascending order and do not overlap. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const pieces = edits.map((edit) => encoder.encode(edit.text));
  let size = bytes.length;
  edits.forEach((edit, index) => {
    size += (pieces[index]?.length ?? 0) - (edit.end - edit.start);
  });
  const out = new Uint8Array(size);
  let from = 0;
  let to = 0;
  edits.forEach((edit, index) => {
    out.set(bytes.subarray(from, edit.start), to);
    to += edit.start - from;
    const piece = pieces[index];
    if (piece !== undefined) {
      out.set(piece, to);
      to += piece.length;
    }
    from = edit.end;
  });
  out.set(bytes.subarray(from), to);
  return out;
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
