import { bounds, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";

/** How much memory the large whole answers of all calls hold together, while they are read and made ready for their callers. */
export class AnswerMemory {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = bounds.largeRepliesBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** What is held now; 0 at rest. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A place for one answer. It has to be let go of. */
  open(): HeldAnswer {
    return new HeldAnswer(this);
  }

  /** For its places: `more` than they hold, or less. Throws overloaded (503). */
  take(more: number): void {
    if (more > 0 && this.#bytes + more > this.#bytesMax) throw tooMany();
    this.#bytes += more;
  }
}

/** What one whole answer holds. One of a usual size takes no room. */
export class HeldAnswer {
  readonly #memory: AnswerMemory;
  #bytes = 0;

  constructor(memory: AnswerMemory) {
    this.#memory = memory;
  }

  /** The answer, read whole. Throws upstream_error for one that is too large, overloaded (503) for one that has no room. */
  read({ body }: OutboundAnswer, idleMs: number): Promise<Uint8Array> {
    return body.readAll(bounds.replyBytesMax, "idle", idleMs, (bytes) => this.hold(bytes));
  }

  release(): void {
    this.hold(0);
  }

  /** So many bytes of the answer are here now. Throws overloaded (503). */
  hold(bytes: number): void {
    // Its pieces are put together in a copy, and a translation of it is one too.
    const held = bytes <= bounds.replyInPlaceBytesMax ? 0 : bytes * 2;
    if (held === this.#bytes) return;
    this.#memory.take(held - this.#bytes);
    this.#bytes = held;
  }
}

/** What was answered was made, and is charged for: that is as for every answer that breaks off, and it is not made a second time. */
function tooMany(): Failure {
  return new Failure("overloaded", "The gateway holds too many large answers at the moment; try again.", {
    retryAfterMs: 1_000,
  });
}
