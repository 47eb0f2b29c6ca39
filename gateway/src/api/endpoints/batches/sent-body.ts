import { bounds, Failure, sleep } from "#core/index.ts";
import { callerGone, encodingOf, isJsonType } from "../../body.ts";
import type { Exchange } from "../../dependencies.ts";

/** The longest silence within a body that is read row by row. The whole body has the time of any other. */
const pieceWaitMs = 60_000;

/** The pieces of a JSON body as they arrive. Throws Failure 408, 413 or 415. */
export async function* bodyPieces(
  { request, dependencies: { clock } }: Pick<Exchange, "request" | "dependencies">,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!isJsonType(request.headers.get("content-type"))) {
    throw new Failure("unsupported_media_type", "The body must be JSON: send `content-type: application/json`.");
  }
  if (encodingOf(request.headers.get("content-encoding")) !== null) {
    throw new Failure("unsupported_media_type", "The body must be sent without a content encoding.");
  }
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  const nextPiece = async (waitMs: number) => {
    const stop = new AbortController();
    const late = sleep(clock, waitMs, stop.signal).then(() => null);
    const piece = await Promise.race([reader.read().catch(callerGone), late]);
    stop.abort();
    return piece;
  };
  const endMs = clock.monotonic() + bounds.requestBodyTotalMs;
  let size = 0;
  try {
    for (;;) {
      const leftMs = endMs - clock.monotonic();
      const piece = leftMs <= 0 ? null : await nextPiece(Math.min(leftMs, pieceWaitMs));
      if (piece === null) {
        const seconds = bounds.requestBodyTotalMs / 1_000;
        const why = leftMs > pieceWaitMs ? `stopped for ${pieceWaitMs / 1_000}` : `did not arrive within ${seconds}`;
        throw new Failure("request_timeout", `The body ${why} seconds.`);
      }
      if (piece.done) return;
      size += piece.value.length;
      if (size > bytesMax) throw new Failure("request_too_large", `The body is larger than ${bytesMax} bytes.`);
      // A large piece would keep the loop busy.
      for (let at = 0; at < piece.value.length; at += bounds.spoolPieceBytes) {
        yield piece.value.subarray(at, at + bounds.spoolPieceBytes);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
