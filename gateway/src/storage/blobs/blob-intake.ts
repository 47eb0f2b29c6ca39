import { bounds, Failure } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";

/** Receives the bytes of a blob whose hash is still unknown. May be reused after it resolves. */
export type BlobSink = (bytes: Uint8Array) => Promise<void> | void;

/**
 * Reads to the end, piece by piece, at the speed of the sink. Throws Failure request_too_large above the bound, and errors of the sender.
 */
export async function receiveBlob(
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
      if (piece === null || signal.aborted) throw new Failure("client_closed", "The caller went away.");
      if (piece.done) return { hash: hasher.digest("hex"), size };
      size += piece.value.length;
      if (size > bytesMax) throw new Failure("request_too_large", `The body is larger than ${bytesMax} bytes.`);
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

/** Hashes come from rows and URLs and become part of a path, so anything else is rejected. */
export function isBlobHash(hash: string): boolean {
  return hashForm.test(hash);
}

/** Splits large pieces, because hashing megabytes at once would block the event loop. */
function* parts(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.length; at += bounds.spoolPieceBytes)
    yield piece.subarray(at, at + bounds.spoolPieceBytes);
}

/** The part of a stream reader that is used. */
interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}
