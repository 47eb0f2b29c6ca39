import { bounds, Failure } from "#core/index.ts";

/** How much memory the large events of all streams hold together: pictures and documents that come in one event each. */
export class EventMemory {
  #bytes = 0;

  /** What is held now; 0 at rest. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A place for one stream. It has to be let go of when the stream has ended. */
  open(): HeldEvents {
    return new HeldEvents(this);
  }

  /** For its places: `more` than they hold, or less. Throws overloaded (503). */
  take(more: number): void {
    if (more > 0 && this.#bytes + more > bounds.largeEventsBytesMax) throw tooMany();
    this.#bytes += more;
  }
}

/** What the events of one stream hold. Those of a usual size take no room. */
export class HeldEvents {
  readonly #memory: EventMemory;
  #bytes = 0;

  constructor(memory: EventMemory) {
    this.#memory = memory;
  }

  /** From now on so many bytes of events are here. Throws overloaded (503) where they do not fit; then as much is held as before. */
  hold(bytes: number): void {
    // While it arrives there is room for more of it behind it, and where it leaves it is written from a copy.
    const held = bytes <= bounds.eventBytesMax ? 0 : bytes * 2;
    if (held === this.#bytes) return;
    this.#memory.take(held - this.#bytes);
    this.#bytes = held;
  }

  release(): void {
    this.hold(0);
  }
}

function tooMany(): Failure {
  return new Failure("overloaded", "The gateway holds too many large events of streams at the moment; try again.", {
    retryAfterMs: 1_000,
  });
}
