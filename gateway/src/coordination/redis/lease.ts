import { bounds } from "#core/index.ts";

/** A share is not used for this long before its lease ends, because clocks differ. */
export const shareLeaseMarginMs = 2_000;

/** As this process counts it. */
const leaseMs = bounds.redisLeaseMs - shareLeaseMarginMs;

/** In the log, with `places`. */
export const leaseEnded =
  "The lease of this process in the shared counter of limits has ended; its running calls keep their places, which other processes may grant again.";

/** The lease of one process on what it holds in the shared counter, by the process's own monotonic clock. */
export class Lease {
  #untilMs = Number.NEGATIVE_INFINITY;
  #endMs = Number.POSITIVE_INFINITY;
  #wasOver = false;

  /** The server counts it from when it was asked, which is not before this. */
  renewed(atMs: number): void {
    this.#endMs = atMs + leaseMs;
    this.#untilMs = this.#endMs;
  }

  /** Other processes may have been granted what this one had leased. Nothing leased is used until the counter confirms it. */
  doubt(): void {
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  holds(atMs: number): boolean {
    return atMs < this.#untilMs;
  }

  /** Whether it was not renewed for so long that others may be granted what this process holds. */
  isOver(atMs: number): boolean {
    return atMs >= this.#endMs;
  }

  /** True once for each end. */
  hasJustEnded(atMs: number): boolean {
    const isOver = this.isOver(atMs);
    const isNew = isOver && !this.#wasOver;
    this.#wasOver = isOver;
    return isNew;
  }
}
