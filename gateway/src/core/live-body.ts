/** Takes what a body gives. The controllers of the runtime's streams are such. */
export interface BodySink {
  enqueue(piece: Uint8Array): void;
  close(): void;
  error(reason: unknown): void;
}

/** A body whose pieces are asked for one after the other, and handed over where they arrive: no promise stands between. */
export interface LiveBody {
  /**
   * Gives `sink` a piece, the end or what it broke off of, now or later, and then calls `answered`. Not to be called again
   * before that. What keeps a silent connection open is given unasked.
   */
  pull(sink: BodySink, answered: () => void): void;
  /** Its reader has gone. */
  cancel(): void;
}

/** The same as a stream of the runtime, for whoever takes no other. */
export function readableOf(body: LiveBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => new Promise<void>((resolve) => body.pull(controller, resolve)),
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
}
