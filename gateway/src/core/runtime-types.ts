import type { Failure } from "./failure.ts";

/** Readable header fields: the runtime's `Headers`, or the fields of our own HTTP/1.1 server. Names are in lower case. */
export interface HeaderReader {
  /** The values of all fields of that name, joined by commas; null if there is none. */
  get(name: string): string | null;
  has(name: string): boolean;
  /** Like the iterator, without allocating pairs. */
  forEach(take: (value: string, name: string) => void): void;
  /** Each name once, in lower case. */
  [Symbol.iterator](): Iterator<[string, string]>;
}

/** Receives the pieces of a body. The controllers of the runtime's streams implement it. */
export interface BodySink {
  enqueue(piece: Uint8Array): void;
  close(): void;
  error(reason: unknown): void;
}

/** A body that is pulled piece by piece, without a promise for each. */
export interface LiveBody {
  /**
   * Passes a piece, the end or an error to `sink`, now or later, then calls `answered`. Do not call it again before that. Keep-alive
   * pieces may come at any time.
   */
  pull(sink: BodySink, answered: () => void): void;
  /** The reader has gone. */
  cancel(why?: Failure): void;
}

/** The body as a stream of the runtime. */
export function readableOf(body: LiveBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => new Promise<void>((resolve) => body.pull(controller, resolve)),
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** A stream that reads one piece per pull and nothing ahead. `next` returns null at the end. */
export function pulledStream(
  next: () => Uint8Array | null | Promise<Uint8Array | null>,
  cancel: () => void | Promise<void> = () => undefined,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await next();
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}

export function streamOfBytes(bytes: Uint8Array, pieceBytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return pulledStream(() => {
    const piece = bytes.subarray(at, at + pieceBytes);
    at += piece.length;
    return piece.length === 0 ? null : piece;
  });
}

/** A function, or an object with one, which needs no closure. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** Aborted when the caller disconnects: an `AbortSignal`, or the cheaper `LeaveSignal`. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: AbortListener, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: AbortListener): void;
}

/** Calls each listener once. */
export class LeaveSignal implements CallSignal {
  aborted = false;
  #listeners: AbortListener[] = [];

  addEventListener(_type: "abort", listener: AbortListener): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: AbortListener): void {
    const listeners = this.#listeners;
    if (listeners.at(-1) === listener) listeners.pop();
    else if (listeners.includes(listener)) listeners.splice(listeners.indexOf(listener), 1);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      if (typeof listener === "function") listener();
      else listener.handleEvent();
    }
  }
}

/** The signal as an AbortSignal of the runtime. */
export function abortSignalOf(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else signal.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}

/** The part of a stream reader that our code uses. The runtime's readers have it, though their types differ. */
export interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}
