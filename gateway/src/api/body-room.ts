import { Failure } from "#core/index.ts";

/** How much memory the bodies of all requests together hold: what has arrived, and what is on its way upstream. */
export class BodyRoom {
  readonly bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** What is held now; 0 at rest. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A place for one request. It has to be let go of when the request's body is not needed any more. */
  open(): BodyPlace {
    return new BodyPlace(this);
  }

  /** For its places: `more` than they hold, or less. Throws overloaded (503). */
  take(more: number): void {
    if (more > 0 && this.#bytes + more > this.bytesMax) throw noRoom();
    this.#bytes += more;
  }
}

/** What one request holds of the memory for bodies. */
export class BodyPlace {
  readonly #room: BodyRoom;
  #bytes = 0;

  constructor(room: BodyRoom) {
    this.#room = room;
  }

  /** From now on so many bytes are held. Throws overloaded (503) where they do not fit; then as much is held as before. */
  hold(bytes: number): void {
    this.#room.take(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  release(): void {
    this.hold(0);
  }
}

function noRoom(): Failure {
  return new Failure("overloaded", "The gateway holds too many large requests at the moment; try again.", {
    retryAfterMs: 1_000,
  });
}
