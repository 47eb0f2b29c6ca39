import { anonymousOwner, type CallerMemory, type HeldMemory, type MemoryOwner } from "#core/index.ts";

/** What was written to one connection and waits for its caller to read. It is here already, so it counts against what is asked for next. */
export class UnreadAnswer {
  readonly #memory: CallerMemory;
  readonly #address: string;
  #held: HeldMemory | null = null;
  /** Whose answer it is; null: nobody knows. */
  owner: MemoryOwner | null = null;

  constructor(memory: CallerMemory, address: string) {
    this.#memory = memory;
    this.#address = address;
  }

  weigh(bytes: number): void {
    if (bytes === 0 && this.#held === null) return;
    this.#held ??= this.#memory.open(this.owner ?? anonymousOwner(this.#address), "unread");
    this.#held.keep(bytes);
    if (bytes === 0) this.#held = null;
  }
}
