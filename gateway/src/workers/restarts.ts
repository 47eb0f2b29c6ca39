/** The wait before a worker that ended is started again doubles up to the maximum. */
export const workerRestMs = 200;
export const workerRestMsMax = 30_000;
/** After this many ends in a row, with no worker that takes calls, the gateway gives up. */
export const workerEndsMax = 8;

/** How soon a worker that ended is followed by another. Ends in a row are counted, until one of them has come to stay. */
export class Restarts {
  #inARow = 0;

  /** A worker ended by itself. Gives how long to rest before the next is started. */
  ended(): number {
    this.#inARow++;
    return Math.min(workerRestMs * 2 ** (this.#inARow - 1), workerRestMsMax);
  }

  /** A worker has taken calls for workerSteadyMs. */
  steady(): void {
    this.#inARow = 0;
  }

  /** It makes no sense to go on, unless some other worker takes calls. */
  get hopeless(): boolean {
    return this.#inARow >= workerEndsMax;
  }
}
