import { type BlobAnswer, blobAnswer } from "#assets/index.ts";
import type { StoredFile } from "#core/index.ts";
import type { Files } from "./files.ts";

/** The bytes of a file, or the range that the header selects. Users upload the bytes, so browsers must not render them as our page. */
export function fileContent(files: Pick<Files, "open">, file: StoredFile, range: string | null): Promise<BlobAnswer> {
  const { sha256: hash, sizeBytes: size, mediaType: type, filename } = file;
  const blobs = { read: (_hash: string, start: number, end: number) => files.open(file, start, end) };
  return blobAnswer(blobs, { hash: hash ?? "", size, type }, range, {
    etag: `"${hash}"`,
    "cache-control": "private, no-cache",
    "content-disposition": attachmentOf(filename),
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
}

/** RFC 6266 and RFC 8187: the name as it is for new clients, and in ASCII for others. */
function attachmentOf(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*!]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
