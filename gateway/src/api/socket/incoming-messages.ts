import { Failure, type HeldMemory } from "#core/index.ts";
import type { MessageGuard } from "#http-server/index.ts";
import type { Clock } from "#ports/index.ts";

/** From the first byte of a message to its last. */
const socketMessageMs = 60_000;

/** Bounds the messages of one WebSocket in memory and time, from the first frame head until the session has the message. */
export class IncomingMessages implements MessageGuard {
  readonly #held: HeldMemory;
  readonly #clock: Pick<Clock, "after">;
  /** Called once. */
  readonly #onRefuse: (failure: Failure) => void;
  /** Sizes of the messages that have arrived and are not read yet, oldest first. */
  readonly #whole: number[] = [];
  #wholeBytes = 0;
  #stopDeadline: (() => void) | null = null;
  #arriving = 0;
  #over = false;

  constructor(held: HeldMemory, clock: Pick<Clock, "after">, onRefuse: (failure: Failure) => void) {
    this.#held = held;
    this.#clock = clock;
    this.#onRefuse = onRefuse;
  }

  get over(): boolean {
    return this.#over;
  }

  grows(bytes: number): boolean {
    if (this.#over) return false;
    this.#arriving = bytes;
    try {
      this.#held.hold(this.#wholeBytes + bytes);
    } catch (thrown) {
      this.#refuse(thrown as Failure);
      return false;
    }
    this.#stopDeadline ??= this.#clock.after(socketMessageMs, () =>
      this.#refuse(late(`did not arrive within ${socketMessageMs / 1_000} seconds`)),
    );
    return true;
  }

  ends(): void {
    this.#stop();
    this.#whole.push(this.#arriving);
    this.#wholeBytes += this.#arriving;
    this.#arriving = 0;
  }

  slow(): void {
    if (!this.#over) this.#refuse(late("arrived too slowly"));
  }

  /** The session has read the oldest message. */
  read(): void {
    this.#wholeBytes -= this.#whole.shift() ?? 0;
    if (!this.#over) this.#held.keep(this.#wholeBytes + this.#arriving);
  }

  close(): void {
    this.#over = true;
    this.#stop();
    this.#held.release();
  }

  #refuse(failure: Failure): void {
    this.close();
    this.#onRefuse(failure);
  }

  #stop(): void {
    this.#stopDeadline?.();
    this.#stopDeadline = null;
  }
}

function late(problem: string): Failure {
  return new Failure("request_timeout", `The message ${problem}.`);
}
