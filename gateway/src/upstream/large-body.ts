import { bounds } from "#core/index.ts";
import type { OutboundRequest } from "#ports/index.ts";

/** A request whose body is long, to be sent piece by piece: fetch copies a whole body at once, which holds up the event loop. */
export function inPieces(request: OutboundRequest): OutboundRequest {
  const { body } = request;
  if (!(body instanceof Uint8Array) || body.length <= bounds.sendAtOnceBytesMax) return request;
  return { ...request, body: { size: body.length, open: () => piecesOf(body) } };
}

function piecesOf(body: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= body.length) {
          controller.close();
          return;
        }
        controller.enqueue(body.subarray(at, at + bounds.sendPieceBytes));
        at += bounds.sendPieceBytes;
      },
    },
    { highWaterMark: 0 },
  );
}
