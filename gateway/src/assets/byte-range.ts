/** Bytes from `start` inclusive to `end` exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a Range header asks for (RFC 9110, 14.1.2). null: the whole, also for what cannot be read or names several ranges,
 * which a server may ignore.
 */
export function readRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replaceAll(/\s/g, "") ?? "");
  const first = match?.[1] ?? "";
  const last = match?.[2] ?? "";
  if (match === null || (first === "" && last === "")) return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return null;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(size, Number(last) + 1) };
}
