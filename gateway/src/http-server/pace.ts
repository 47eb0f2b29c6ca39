import { bounds } from "#core/index.ts";

const stopped = Number.POSITIVE_INFINITY;

/**
 * How long a caller is waited for. It has some seconds, and gains one with each `slowBytesPerSecond` bytes that move, up to as many seconds
 * as before: only an average below that rate is too slow. Costs an addition for what moves, and a subtraction each turn of the wheel.
 */
export class Pace {
  readonly #bytesMax: number;
  readonly #bytesPerTurn: number;
  #bytesLeft = stopped;

  constructor(patienceMs: number, turnMs: number) {
    this.#bytesMax = (bounds.slowBytesPerSecond * patienceMs) / 1_000;
    this.#bytesPerTurn = (bounds.slowBytesPerSecond * turnMs) / 1_000;
  }

  /** From now on the caller is waited for; nothing changes where it is already. */
  start(): void {
    if (this.#bytesLeft === stopped) this.#bytesLeft = this.#bytesMax;
  }

  stop(): void {
    this.#bytesLeft = stopped;
  }

  /** So many bytes have moved: the caller is waited for, if it was not before. */
  moved(bytes: number): void {
    this.#bytesLeft = Math.min(this.#bytesMax, this.#bytesLeft + bytes);
  }

  /** A turn in which the caller was waited for. True: it is too slow. */
  turn(): boolean {
    this.#bytesLeft -= this.#bytesPerTurn;
    return this.#bytesLeft < 0;
  }
}
