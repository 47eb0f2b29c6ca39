import { bounds, Failure, type MemoryOwner, pulledStream } from "#core/index.ts";
import type { BlobInfo, BlobStore, Clock, Spool, Spooled, Transport } from "#ports/index.ts";
import { isBlobHash, receiveBlob } from "./blob-intake.ts";
import { type Bucket, type BucketAnswer, type BucketSend, bucketSend } from "./bucket-requests.ts";

/** Blobs are read in requests of this size. */
export const bucketPieceBytes = 1024 * 1024;

export interface BucketBlobStoreOptions extends Bucket {
  /** Prefix of all keys, such as `sluice/`. */
  readonly prefix?: string;
  readonly transport: Transport;
  /** Holds bytes until their hash is known. */
  readonly spool: Spool;
  readonly clock: Clock;
}

/**
 * Blobs in an S3-compatible bucket, by hash. Bytes are spooled first, then sent in one request that the bucket verifies by that hash, so
 * objects are complete or absent. Objects are read in pieces, one request each: a slow reader holds no connection.
 * The credentials must allow get, put, delete and list: without list, buckets answer 403 instead of 404.
 */
export function createBucketBlobStore(options: BucketBlobStoreOptions): BlobStore {
  const send = bucketSend(options, options.transport, options.clock);
  const prefix = options.prefix ?? "";
  const keyOf = (hash: string): string => `${prefix}${hash.slice(0, 2)}/${hash}`;
  const piece = async (hash: string, start: number, end: number, signal: AbortSignal): Promise<Piece | null> =>
    isBlobHash(hash) ? await readPiece(send, keyOf(hash), { start, end, signal }) : null;
  return {
    async put(bytes, bytesMax, signal, beforeStored) {
      const { info, spooled } = await spoolBlob(options.spool, bytes, bytesMax, signal);
      try {
        await beforeStored?.(info);
        // Known bytes are not sent again.
        const there = await piece(info.hash, 0, 1, signal);
        if (there === null) await upload(send, keyOf(info.hash), { info, spooled, signal });
        return info;
      } finally {
        spooled.discard();
      }
    },
    async stat(hash) {
      const first = await piece(hash, 0, 1, unending());
      return first === null ? null : { hash, size: first.size };
    },
    async read(hash, start, end) {
      const from = Math.max(0, start);
      const stop = new AbortController();
      const first = await piece(hash, from, Math.max(from + 1, Math.min(end, from + bucketPieceBytes)), stop.signal);
      if (first === null) return null;
      const next = (at: number, limit: number) => piece(hash, at, limit, stop.signal);
      return pieces(first, { start: from, end: Math.min(end, first.size) }, next, () => stop.abort());
    },
    async head(hash, length) {
      const first = await piece(hash, 0, Math.min(Math.max(1, length), bucketPieceBytes), unending());
      return first === null ? null : first.bytes.subarray(0, length);
    },
    async remove(hash) {
      if (!isBlobHash(hash)) return;
      (await send({ method: "DELETE", key: keyOf(hash) }, unending())).body.cancel();
    },
  };
}

/** A range of an object, and the size of the whole. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly size: number;
}

/** Blobs have no calling key here: all share the space of one owner. */
const blobsOwner: MemoryOwner = { key: { id: "blobs" }, workspace: { id: "blobs" } };

async function spoolBlob(
  spool: Spool,
  bytes: ReadableStream<Uint8Array>,
  bytesMax: number,
  signal: AbortSignal,
): Promise<{ readonly info: BlobInfo; readonly spooled: Spooled }> {
  const writer = spool.open(blobsOwner);
  try {
    const info = await receiveBlob(bytes, bytesMax, signal, (part) => writer.write(part));
    return { info, spooled: await writer.end() };
  } catch (thrown) {
    writer.discard();
    throw thrown;
  }
}

async function upload(
  send: BucketSend,
  key: string,
  blob: { readonly info: BlobInfo; readonly spooled: Spooled; readonly signal: AbortSignal },
): Promise<void> {
  const { info, spooled, signal } = blob;
  const stream = { size: info.size, open: () => spooled.read(0, info.size) };
  const answer = await send({ method: "PUT", key, body: { stream, sha256: info.hash } }, signal);
  answer.body.cancel();
  if (answer.status === 404) throw strange(answer);
}

/** null: there is no such object. A range after the end is empty. */
async function readPiece(
  send: BucketSend,
  key: string,
  { start, end, signal }: { readonly start: number; readonly end: number; readonly signal: AbortSignal },
): Promise<Piece | null> {
  const answer = await send({ method: "GET", key, range: `bytes=${start}-${end - 1}` }, signal);
  if (answer.status === 404) return null;
  const size = wholeSize(answer);
  if (size === null) {
    answer.body.cancel();
    throw strange(answer);
  }
  if (answer.status === 416) return { bytes: new Uint8Array(0), size };
  const bytes = await answer.body.readAll(bucketPieceBytes, "idle", bounds.bucketSilenceMs);
  const wanted = Math.max(0, Math.min(end, size) - start);
  if (bytes.length !== wanted) throw strange(answer);
  return { bytes, size };
}

/** From `content-range: bytes 0-9/1000`, possibly with a star for the range. An empty object has no range and may be sent whole. */
function wholeSize(answer: BucketAnswer): number | null {
  if (answer.status === 200) return answer.headers.get("content-length") === "0" ? 0 : null;
  const size = /\/(\d{1,15})$/.exec(answer.headers.get("content-range") ?? "")?.[1];
  if (size !== undefined) return Number(size);
  // Some buckets omit the size when refusing a range, which happens only for empty objects.
  return answer.status === 416 ? 0 : null;
}

function strange(answer: BucketAnswer): Failure {
  return new Failure("internal_error", "File storage returned an unexpected answer.", {
    cause: new Error(`an answer ${answer.status} that a bucket does not give`),
  });
}

/** The first piece is given; each further one is requested after the previous was taken. */
function pieces(
  first: Piece,
  range: { readonly start: number; readonly end: number },
  next: (at: number, limit: number) => Promise<Piece | null>,
  stop: () => void,
): ReadableStream<Uint8Array> {
  let held: Uint8Array | null = first.bytes;
  let at = range.start;
  return pulledStream(async () => {
    if (at >= range.end) return null;
    const bytes = held ?? (await next(at, Math.min(range.end, at + bucketPieceBytes)))?.bytes;
    held = null;
    if (bytes === undefined || bytes.length === 0) throw new Error("a blob is shorter than it was");
    at += bytes.length;
    return bytes;
  }, stop);
}

/** For callers without a signal; timeouts still apply. */
function unending(): AbortSignal {
  return new AbortController().signal;
}
