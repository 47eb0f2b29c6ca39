import { bounds, Failure } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";

/** Where the bytes of a blob go while its hash is still unknown. What it was given is its own once it resolves. */
export type BlobSink = (bytes: Uint8Array) => Promise<void> | void;

/**
 * Reads bytes to their end, one piece at a time: the sender waits while a piece is put away. Throws Failure
 * request_too_large above the bound, and what the sender throws as it is; the rest is then not read.
 */
export async function takeBlob(
  bytes: ReadableStream<Uint8Array>,
  bytesMax: number,
  signal: AbortSignal,
  sink: BlobSink,
): Promise<BlobInfo> {
  const reader: PieceReader = bytes.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  const hasher = new Bun.CryptoHasher("sha256");
  let size = 0;
  try {
    for (;;) {
      const piece = signal.aborted ? null : await reader.read();
      if (piece === null || signal.aborted)
        throw new Failure("client_closed", "Nobody waits for these bytes any more.");
      if (piece.done) return { hash: hasher.digest("hex"), size };
      size += piece.value.length;
      if (size > bytesMax) throw new Failure("request_too_large", `There are more than ${bytesMax} bytes.`);
      for (const part of parts(piece.value)) {
        hasher.update(part);
        await sink(part);
      }
    }
  } catch (thrown) {
    stop();
    throw thrown;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const hashForm = /^[0-9a-f]{64}$/;

/** A hash comes from rows and URLs, and becomes part of a path: what is not one names nothing. */
export function isBlobHash(hash: string): boolean {
  return hashForm.test(hash);
}

/** A sender may give megabytes at once; hashing those in one go would hold up the calls that are being carried. */
function* parts(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.length; at += bounds.spoolPieceBytes)
    yield piece.subarray(at, at + bounds.spoolPieceBytes);
}

/** What is used of a stream's reader; the runtime's own type is wider. */
interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}
