import type { BodySink, Failure } from "#core/index.ts";
import type { Clock, OutboundAnswer } from "#ports/index.ts";
import type { Dialect } from "#protocols/index.ts";
import type { PieceQueue } from "./piece-queue.ts";

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
