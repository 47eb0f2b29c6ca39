import { bounds } from "#core/index.ts";

/** How soon a worker that ended is followed by another. Ends in a row are counted, until one of them has come to stay. */
export class Restarts {
  #inARow = 0;

  /** A worker ended by itself. Gives how long to rest before the next is started. */
  ended(): number {
    this.#inARow++;
    return Math.min(bounds.workerRestMs * 2 ** (this.#inARow - 1), bounds.workerRestMsMax);
  }

  /** A worker has taken calls for bounds.workerSteadyMs. */
  steady(): void {
    this.#inARow = 0;
  }

  /** It makes no sense to go on, unless some other worker takes calls. */
  get hopeless(): boolean {
    return this.#inARow >= bounds.workerEndsMax;
  }
}
