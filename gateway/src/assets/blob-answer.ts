import type { BlobStore } from "#ports/index.ts";
import { readRange } from "./byte-range.ts";

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
