import type { Clock } from "#ports/index.ts";

/** How long a loop over rows may compute before other work has its turn. */
const turnMs = 4;

/**
 * Ends a turn of the event loop. SQLite answers at once, so a loop of statements would keep the loop busy. After work on files, the
 * runtime calls the first callback before it reads sockets.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Divides a loop into short turns of the event loop. */
export class Turns {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The first pause ends the turn: other work may have begun it. */
  #beganMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Resolves in a later turn if the loop has run for some milliseconds. Call it between two rows. */
  async pause(): Promise<void> {
    if (this.#clock.monotonic() - this.#beganMs < turnMs) return;
    await nextTurn();
    this.#beganMs = this.#clock.monotonic();
  }
}
