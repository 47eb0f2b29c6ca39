import { bounds, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";

/** How much memory large things of one kind hold together, over all calls. */
export class LargeMemory {
  readonly #what: string;
  readonly #bytesMax: number;
  readonly #smallMax: number;
  #bytes = 0;

  /** `what`: its name in the refusal. Up to `smallMax` bytes one takes no room. */
  constructor(what: string, bytesMax: number, smallMax: number) {
    this.#what = what;
    this.#bytesMax = bytesMax;
    this.#smallMax = smallMax;
  }

  /** What is held now; 0 at rest. */
  get bytes(): number {
    return this.#bytes;
  }

  /** For one stream or answer, which has to release it. */
  open(): HeldMemory {
    return new HeldMemory(this);
  }

  /** A whole answer, held while it is read and used. Throws upstream_error for one that is too large, overloaded (503) for one that has no room. */
  async reading<T>(answer: OutboundAnswer, idleMs: number, use: (bytes: Uint8Array) => Promise<T>): Promise<T> {
    const held = this.open();
    try {
      return await use(await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs, (bytes) => held.hold(bytes)));
    } finally {
      held.release();
    }
  }

  /** For `HeldMemory`: what is held in the place of `held` for so many bytes. Throws overloaded (503). */
  exchange(held: number, bytes: number): number {
    // While it arrives it is put together in a copy, and where it leaves it is written from one.
    const wanted = bytes <= this.#smallMax ? 0 : bytes * 2;
    if (wanted > held && this.#bytes + wanted - held > this.#bytesMax) {
      const message = `The gateway holds too many ${this.#what} at the moment; try again.`;
      throw new Failure("overloaded", message, { retryAfterMs: 1_000 });
    }
    this.#bytes += wanted - held;
    return wanted;
  }
}

/** What one answer or stream holds. */
export class HeldMemory {
  readonly #memory: LargeMemory;
  #held = 0;

  constructor(memory: LargeMemory) {
    this.#memory = memory;
  }

  /** From now on so many bytes are here. Throws overloaded (503) where they do not fit; then as much is held as before. */
  hold(bytes: number): void {
    this.#held = this.#memory.exchange(this.#held, bytes);
  }

  release(): void {
    this.hold(0);
  }
}
