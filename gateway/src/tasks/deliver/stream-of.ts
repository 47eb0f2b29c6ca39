import type { AnswerBody } from "#ports/index.ts";

/** Silence between two pieces of a result. */
const resultIdleMs = 60_000;

/** Read no faster than the caller does; a caller that goes away ends it. */
export function streamOf(body: AnswerBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await body.read("idle", resultIdleMs);
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
}
