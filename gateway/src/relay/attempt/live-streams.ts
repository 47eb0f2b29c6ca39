import type { Failure } from "#core/index.ts";

export interface LiveStream {
  /** Ends the stream with an error in the caller's dialect. */
  abort(failure: Failure): void;
}

/** The streams that are under way, so that a drain can wait for them and, at its end, finish them honestly. */
export class LiveStreams {
  readonly #streams = new Set<LiveStream>();

  get size(): number {
    return this.#streams.size;
  }

  add(stream: LiveStream): void {
    this.#streams.add(stream);
  }

  remove(stream: LiveStream): void {
    this.#streams.delete(stream);
  }

  abortAll(failure: Failure): void {
    for (const stream of [...this.#streams]) stream.abort(failure);
  }
}
