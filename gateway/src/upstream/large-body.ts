import { bounds } from "#core/index.ts";
import type { OutboundBody, OutboundStream } from "#ports/index.ts";

/** A body that is sent piece by piece, since fetch copies a whole one at once, which holds up the event loop. null: it is short. */
export function streamedBody(body: OutboundBody | null): OutboundStream | null {
  if (body === null) return null;
  if (body instanceof Uint8Array) return body.length <= bounds.sendAtOnceBytesMax ? null : streamedPieces([body]);
  return "open" in body ? body : streamedPieces(body);
}

function streamedPieces(pieces: readonly Uint8Array[]): OutboundStream {
  return { size: pieces.reduce((sum, { length }) => sum + length, 0), open: () => streamOf(pieces) };
}

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let index = 0;
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[index];
        if (piece === undefined) {
          controller.close();
          return;
        }
        controller.enqueue(piece.subarray(at, at + bounds.sendPieceBytes));
        at += bounds.sendPieceBytes;
        if (at < piece.length) return;
        index++;
        at = 0;
      },
    },
    { highWaterMark: 0 },
  );
}
