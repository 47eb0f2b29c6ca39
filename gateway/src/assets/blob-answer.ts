import type { BlobStore } from "#ports/index.ts";

/** What is answered to whoever comes for the bytes of a blob. */
export interface BlobAnswer {
  readonly status: 200 | 206 | 404 | 416;
  readonly headers: Record<string, string>;
  /** Pulled as the reader pulls; null where there is nothing to send. */
  readonly body: ReadableStream<Uint8Array> | null;
}

export const missing: BlobAnswer = Object.freeze({ status: 404, headers: {}, body: null });

/** A blob, or the part of it that a Range header asks for, under these headers and those that tell of the bytes. */
export async function blobAnswer(
  blobs: BlobStore,
  { hash, size, type }: { readonly hash: string; readonly size: number; readonly type: string },
  range: string | null,
  more: Readonly<Record<string, string>>,
): Promise<BlobAnswer> {
  const headers: Record<string, string> = { "accept-ranges": "bytes", ...more };
  const part = readRange(range, size);
  if (part === "unsatisfiable") {
    return { status: 416, headers: { ...headers, "content-range": `bytes */${size}` }, body: null };
  }
  const { start, end } = part ?? { start: 0, end: size };
  const body = await blobs.read(hash, start, end);
  if (body === null) return missing;
  headers["content-type"] = type;
  headers["content-length"] = String(end - start);
  if (part === null) return { status: 200, headers, body };
  headers["content-range"] = `bytes ${start}-${end - 1}/${size}`;
  return { status: 206, headers, body };
}

/** Bytes from `start` inclusive to `end` exclusive. */
interface ByteRange {
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
