import { bounds } from "#core/index.ts";
import type { Clock, HealthBoard } from "#ports/index.ts";

export function createMemoryHealthBoard(clock: Clock): HealthBoard {
  return new MemoryHealthBoard(clock);
}

/** How often ended cooldowns are purged. */
const purgeMs = 1_000;

class MemoryHealthBoard implements HealthBoard {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();
  #purgeAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get quiet(): boolean {
    if (this.#untilMs.size === 0) return true;
    const nowMs = this.#clock.monotonic();
    if (nowMs < this.#purgeAtMs) return false;
    this.#purgeAtMs = nowMs + purgeMs;
    this.#forgetEnded();
    return this.#untilMs.size === 0;
  }

  coolingUntil(deploymentId: string): number {
    if (this.#untilMs.size === 0) return 0;
    const untilMs = this.#untilMs.get(deploymentId);
    if (untilMs === undefined) return 0;
    if (untilMs > this.#clock.monotonic()) return untilMs;
    this.#untilMs.delete(deploymentId);
    return 0;
  }

  /** The later end wins: a short Retry-After does not shorten a breaker's cooldown. */
  cool(deploymentId: string, untilMs: number): void {
    const known = this.#untilMs.get(deploymentId) ?? 0;
    if (untilMs <= known) return;
    if (this.#untilMs.size >= bounds.circuitsMax) this.#forgetEnded();
    if (this.#untilMs.size < bounds.circuitsMax) this.#untilMs.set(deploymentId, untilMs);
  }

  clear(deploymentId: string): void {
    this.#untilMs.delete(deploymentId);
  }

  #forgetEnded(): void {
    const atMs = this.#clock.monotonic();
    for (const [deploymentId, untilMs] of this.#untilMs) {
      if (untilMs <= atMs) this.#untilMs.delete(deploymentId);
    }
  }
}
