import { bounds } from "#core/index.ts";

/** Shares are not used this long before the lease ends, because clocks differ. */
export const shareLeaseMarginMs = 2_000;

const leaseMs = bounds.redisLeaseMs - shareLeaseMarginMs;

export const leaseEndedMessage =
  "Lease in Redis lapsed; running calls keep their concurrency slots, but other processes may be granted them too.";

/** This process's lease on what it holds in Redis, by its own monotonic clock. See the states in membership.ts. */
export class Lease {
  #untilMs = Number.NEGATIVE_INFINITY;
  #endMs = Number.POSITIVE_INFINITY;
  #wasOver = false;

  /** `atMs`: when the renewal was sent, which is before the server begins to count. */
  renewed(atMs: number): void {
    this.#endMs = atMs + leaseMs;
    this.#untilMs = this.#endMs;
  }

  suspend(): void {
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  holds(atMs: number): boolean {
    return atMs < this.#untilMs;
  }

  hasEnded(atMs: number): boolean {
    return atMs >= this.#endMs;
  }

  /** True once for each end. */
  hasJustEnded(atMs: number): boolean {
    const isOver = this.hasEnded(atMs);
    const isNew = isOver && !this.#wasOver;
    this.#wasOver = isOver;
    return isNew;
  }
}
