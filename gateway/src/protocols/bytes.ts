const encoder = new TextEncoder();

/** Bytes with the ranges of `edits` replaced. Edits are in ascending order and do not overlap. */
export function splice(
  bytes: Uint8Array,
  edits: readonly { readonly start: number; readonly end: number; readonly text: string }[],
): Uint8Array {
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

export function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const out = new Uint8Array(first.length + second.length);
  out.set(first, 0);
  out.set(second, first.length);
  return out;
}
