/**
 * Whether a text is these pieces with anything between them. Each piece is taken where it first stands, so that no pattern,
 * whoever wrote it, can make this slow: a regular expression would try every way to share the text among many stars.
 */
export function piecesMatch(pieces: readonly string[], text: string): boolean {
  const head = pieces[0] ?? "";
  if (pieces.length === 1) return head === text;
  const tail = pieces.at(-1) ?? "";
  const end = text.length - tail.length;
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? "";
    const found = text.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
