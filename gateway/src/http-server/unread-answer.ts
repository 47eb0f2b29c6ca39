import { anonymousOwner, type CallerMemory, type HeldMemory, type MemoryOwner } from "#core/index.ts";
import type { UnsentWatch } from "#http1/index.ts";
import type { Pace } from "./held-bytes.ts";

/** The bytes of answers that a caller has not read: they count against its memory, and it has to read them at a minimum rate. */
export class UnreadAnswer implements UnsentWatch {
  readonly #memory: CallerMemory;
  readonly #address: string;
  readonly #pace: Pace;
  #held: HeldMemory | null = null;
  /** null until the caller is authenticated. */
  owner: MemoryOwner | null = null;
  wasSlow = false;

  constructor(memory: CallerMemory, address: string, pace: Pace) {
    this.#memory = memory;
    this.#address = address;
    this.#pace = pace;
  }

  onUnsent(bytes: number): void {
    if (bytes === 0) this.#pace.stop();
    else this.#pace.start();
    if (bytes === 0 && this.#held === null) return;
    this.#held ??= this.#memory.open(this.owner ?? anonymousOwner(this.#address), "unread");
    this.#held.keep(bytes);
    if (bytes === 0) this.#held = null;
  }

  onWritten(bytes: number): void {
    this.#pace.moved(bytes);
  }

  /** Whether the caller reads too slowly. Called once per tick. */
  isSlow(): boolean {
    this.wasSlow = this.#pace.turn();
    return this.wasSlow;
  }
}
