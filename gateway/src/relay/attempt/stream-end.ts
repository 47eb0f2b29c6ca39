import type { BodySink, Failure, Redactor } from "#core/index.ts";
import type { Clock, OutboundAnswer } from "#ports/index.ts";
import type { Dialect, StreamTap } from "#protocols/index.ts";

/** Copying and writing more at once would block the event loop. */
const partBytes = 256 * 1024;

/** What a stream's caller has not pulled yet. A large event is given out in parts. */
export class PieceQueue {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  readonly #redactor: () => Redactor;

  /** `redactor`: for the upstream's own error events, and whatever comes with and after them. */
  constructor(redactor: () => Redactor) {
    this.#redactor = redactor;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Uint8Array, tap: StreamTap): void {
    const shown = tap.failure === null ? bytes : this.#redactor().bytes(bytes);
    if (shown.length > 0) this.#pieces.push(shown);
    this.#bytes += shown.length;
    for (const more of tap.takeMore?.() ?? []) {
      this.#pieces.push(more);
      this.#bytes += more.length;
    }
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  take(): Uint8Array | null {
    const [piece] = this.#pieces;
    if (piece === undefined) return null;
    if (piece.length <= partBytes) this.#pieces.shift();
    else this.#pieces[0] = piece.subarray(partBytes);
    const part = piece.length <= partBytes ? piece : piece.subarray(0, partBytes);
    this.#bytes -= part.length;
    return part;
  }
}

/** Between an error and its second form: clients join what arrives at once, and look for that form in a piece of its own. */
const apartMs = 50;

/** What is sent of a stream that is over, when its caller pulls again. */
export class StreamEnd {
  readonly #clock: Clock;
  readonly #words: PieceQueue;
  #bare: Uint8Array | null;
  #stopTimer = (): void => {};

  /** `words`: what the caller has not pulled yet. `told`: the failure that it got. */
  constructor(clock: Clock, words: PieceQueue, told: BareError | null) {
    this.#clock = clock;
    this.#words = words;
    const bare = told?.dialect.renderBareError?.(told.failure, told.requestId);
    this.#bare = bare === undefined ? null : encoder.encode(bare);
  }

  get isEmpty(): boolean {
    return this.#words.bytes === 0 && this.#bare === null;
  }

  /** Sends the next piece. The stream is closed with the last one. */
  pull(sink: BodySink, answered: () => void): void {
    const words = this.#words.take();
    const bare = this.#bare;
    if (words === null && bare !== null) {
      this.#stopTimer = this.#clock.after(apartMs, () => {
        sink.enqueue(bare);
        sink.close();
        answered();
      });
      return;
    }
    if (words !== null) sink.enqueue(words);
    if (this.isEmpty) sink.close();
    answered();
  }

  cancel(): void {
    this.#stopTimer();
  }
}

export interface BareError {
  readonly dialect: Dialect;
  readonly requestId: string;
  readonly failure: Failure;
}

const encoder = new TextEncoder();

const tailMs = 1_000;

/** Awaits the rest of a finished answer for a moment, so that its connection can be used again. */
export async function readTail(answer: OutboundAnswer): Promise<void> {
  try {
    for (let reads = 0; reads < 4; reads++) if ((await answer.body.read("idle", tailMs)) === null) return;
  } catch {
    // The answer is already settled and delivered; only the connection is lost.
  }
  answer.body.cancel();
}
