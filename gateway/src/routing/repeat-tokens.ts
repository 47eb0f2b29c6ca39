/**
 * How often calls may repeat one deployment. Each repeat takes a token; time and successes give them back, so a deployment
 * in trouble gets hardly more calls than one that is well, and one in trouble takes nothing from the others.
 */
const tokens = { most: 10, perSecond: 1, perSuccess: 0.2 } as const;

export class RepeatTokens {
  #left: number = tokens.most;
  #countedMs = 0;

  take(nowMs: number): boolean {
    this.#give(((nowMs - this.#countedMs) / 1_000) * tokens.perSecond);
    this.#countedMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  succeeded(): void {
    this.#give(tokens.perSuccess);
  }

  #give(count: number): void {
    this.#left = Math.min(tokens.most, this.#left + count);
  }
}
