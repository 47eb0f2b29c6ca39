import type { Failure } from "./failure.ts";

/**
 * Header fields as whoever reads them needs them. The runtime's `Headers` are such, and so are the fields of our own HTTP/1.1, which cost
 * nothing to make. Names are asked for in lower case.
 */
export interface HeaderReader {
  /** The values of all fields of that name, with commas between them; null: there is none. */
  get(name: string): string | null;
  has(name: string): boolean;
  /** The same as the iterator gives, without a pair for each. */
  forEach(take: (value: string, name: string) => void): void;
  /** Names in lower case, each once. */
  [Symbol.iterator](): Iterator<[string, string]>;
}

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
  /** Its reader has gone. `why`: where that is known. */
  cancel(why?: Failure): void;
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

/** A stream that is read as its reader pulls: one piece for each pull, and nothing ahead. `next` gives null at the end. */
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

/** Bytes as a stream, in pieces of a size. */
export function streamOfBytes(bytes: Uint8Array, pieceBytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return pulledStream(() => {
    const piece = bytes.subarray(at, at + pieceBytes);
    at += piece.length;
    return piece.length === 0 ? null : piece;
  });
}

/** Tells that whoever asked has gone. The runtime's `AbortSignal` is one; `LeaveSignal` is one that costs nothing to make. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** One for a call. Each listener hears of the end once. */
export class LeaveSignal implements CallSignal {
  aborted = false;
  /** Nearly always there is one. */
  #listener: (() => void) | null = null;
  #others: Set<() => void> | null = null;

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.#listener === null || this.#listener === listener) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (this.#listener === listener) this.#listener = null;
    else this.#others?.delete(listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const first = this.#listener;
    const others = this.#others;
    this.#listener = null;
    this.#others = null;
    first?.();
    if (others !== null) for (const other of others) other();
  }
}

/** The runtime's own, for whoever takes no other. */
export function abortSignalOf(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else signal.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}
