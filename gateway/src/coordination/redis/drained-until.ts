import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * Until when what this process settled is in the ledger: readings by other processes look back as far as the slowest. Times
 * without a name are of this process's monotonic clock.
 */
export class DrainedUntil {
  readonly #clock: Clock;
  readonly #settled: ((signal: AbortSignal) => Promise<void>) | null;
  readonly #ended = new AbortController();
  #drainedMs: number;
  #running = false;
  /** A time of the server's clock, and the earliest that it can be here. */
  #server = { ms: 0, atMs: 0 };

  /** `settled`: see `RedisCounterOptions`. */
  constructor(clock: Clock, settled: ((signal: AbortSignal) => Promise<void>) | null) {
    this.#clock = clock;
    this.#settled = settled;
    this.#drainedMs = clock.monotonic();
  }

  /** The server said its time in an answer to what was asked at `atMs`. */
  note(serverMs: number, atMs: number): void {
    this.#server = { ms: serverMs, atMs };
  }

  /** The server's time now, or a little later. */
  get serverMs(): number {
    return Math.floor(this.#server.ms + this.#clock.monotonic() - this.#server.atMs);
  }

  /** By the server's clock, and not later than it is. `untoldSinceMs`: what was settled from then on is not told yet. */
  serverMark(untoldSinceMs: number | null): number {
    const { ms, atMs } = this.#server;
    const untilMs = Math.min(this.#drainedMs, untoldSinceMs ?? Number.POSITIVE_INFINITY);
    return Math.floor(ms + untilMs - atMs - bounds.redisAnswerMs);
  }

  /** Sees to it that all that is settled now is in the ledger soon. `done` is told when it is. */
  drain(done: (atMs: number) => void): void {
    if (this.#running) return;
    const atMs = this.#clock.monotonic();
    const drained = (): void => {
      this.#running = false;
      if (this.#ended.signal.aborted) return;
      this.#drainedMs = atMs;
      done(atMs);
    };
    if (this.#settled === null) {
      drained();
      return;
    }
    this.#running = true;
    this.#settled(this.#ended.signal).then(drained, () => {
      this.#running = false;
    });
  }

  /** Resolves when all that was settled before the call is in the ledger, or at the signal. */
  async settled(signal: AbortSignal): Promise<void> {
    await this.#settled?.(signal);
  }

  close(): void {
    this.#ended.abort();
  }
}
