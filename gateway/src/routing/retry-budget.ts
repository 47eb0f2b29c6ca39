import { bounds } from "#core/index.ts";

/**
 * How many attempts under way may be repeats: a share of all of them, as Envoy's retry budget. A few are always allowed,
 * so that a quiet gateway can retry at all.
 */
export class RetryBudget {
  #active = 0;
  #repeats = 0;

  /** The attempt that asks has ended, but its call is still active. */
  get spare(): boolean {
    const allowed = Math.max(bounds.retriesActiveMin, Math.floor((this.#active + 1) * bounds.retriesActiveShare));
    return this.#repeats < allowed;
  }

  begin(repeat: boolean): void {
    this.#active++;
    if (repeat) this.#repeats++;
  }

  end(repeat: boolean): void {
    this.#active--;
    if (repeat) this.#repeats--;
  }
}
