import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * The time up to which this process's settlements are in the ledger. Readings by other processes look back as far as the slowest process.
 * Times are monotonic milliseconds unless named `server`.
 */
export class LedgerProgress {
  readonly #clock: Clock;
  readonly #settled: ((signal: AbortSignal) => Promise<void>) | null;
  readonly #ended = new AbortController();
  #drainedMs: number;
  #running = false;
  /** A time of the server, and the earliest local time that it can correspond to. */
  #server = { ms: 0, atMs: 0 };

  constructor(clock: Clock, settled: ((signal: AbortSignal) => Promise<void>) | null) {
    this.#clock = clock;
    this.#settled = settled;
    this.#drainedMs = clock.monotonic();
  }

  /** `serverMs`: from the answer to a request sent at `atMs`. */
  recordServerTime(serverMs: number, atMs: number): void {
    this.#server = { ms: serverMs, atMs };
  }

  /** An upper estimate of the server's time. */
  get serverMs(): number {
    return Math.floor(this.#server.ms + this.#clock.monotonic() - this.#server.atMs);
  }

  /** Up to when settlements are in the ledger and in Redis, as a lower estimate of the server's time. */
  serverMark(unsentSinceMs: number | null): number {
    const { ms, atMs } = this.#server;
    const untilMs = Math.min(this.#drainedMs, unsentSinceMs ?? Number.POSITIVE_INFINITY);
    return Math.floor(ms + untilMs - atMs - bounds.redisAnswerMs);
  }

  /** Calls `done` when everything settled before now is in the ledger. Does nothing while an earlier call waits. */
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

  async settled(signal: AbortSignal): Promise<void> {
    await this.#settled?.(signal);
  }

  close(): void {
    this.#ended.abort();
  }
}
