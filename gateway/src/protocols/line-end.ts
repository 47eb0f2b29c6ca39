const LF = 0x0a;
const CR = 0x0d;
/** Most lines end within these; of longer ones the runtime searches windows that double, while they fit into a cache. */
const nearBytes = 1024;
const windowBytesMax = 64 * 1024;

/**
 * Where the next line end (LF or CR) stands in `bytes[from, end)`; -1 when there is none. What it looks at is at most a few
 * times the line, whichever of the two the stream uses: to search for one of them to the very end, line by line, would
 * take the square of the event.
 */
export function lineEnd(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(end, from + nearBytes);
  for (let at = from; at < near; at++) if (bytes[at] === LF || bytes[at] === CR) return at;
  let start = near;
  for (let size = nearBytes * 2; start < end; size = Math.min(size * 2, windowBytesMax)) {
    const window = bytes.subarray(start, Math.min(end, start + size));
    const lf = window.indexOf(LF);
    const cr = (lf === -1 ? window : window.subarray(0, lf)).indexOf(CR);
    const found = cr === -1 ? lf : cr;
    if (found !== -1) return start + found;
    start += window.length;
  }
  return -1;
}

/** Behind the byte order mark that stands there, if one does. */
export function pastMark(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at;
}

/** A text without the mark: a reader may pass over it (RFC 8259, 8.1), and some servers' whole answers begin with one. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  const start = pastMark(bytes, 0);
  return start === 0 ? bytes : bytes.subarray(start);
}
