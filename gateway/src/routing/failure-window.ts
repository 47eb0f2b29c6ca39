const parts = 30;

/** Calls and failures of the last `windowMs`, in thirty parts, so that it costs the same however many calls there are. */
export class FailureWindow {
  readonly #partMs: number;
  readonly #calls = new Uint32Array(parts);
  readonly #failures = new Uint32Array(parts);
  #newest = 0;

  constructor(windowMs: number) {
    this.#partMs = windowMs / parts;
  }

  add(failed: boolean, nowMs: number): void {
    this.#advance(nowMs);
    const slot = this.#newest % parts;
    this.#calls[slot] = (this.#calls[slot] ?? 0) + 1;
    if (failed) this.#failures[slot] = (this.#failures[slot] ?? 0) + 1;
  }

  sums(nowMs: number): { readonly calls: number; readonly failures: number } {
    this.#advance(nowMs);
    let calls = 0;
    let failures = 0;
    for (let slot = 0; slot < parts; slot++) {
      calls += this.#calls[slot] ?? 0;
      failures += this.#failures[slot] ?? 0;
    }
    return { calls, failures };
  }

  clear(): void {
    this.#calls.fill(0);
    this.#failures.fill(0);
  }

  #advance(nowMs: number): void {
    const now = Math.floor(nowMs / this.#partMs);
    if (now - this.#newest >= parts) this.clear();
    else {
      for (let part = this.#newest + 1; part <= now; part++) {
        this.#calls[part % parts] = 0;
        this.#failures[part % parts] = 0;
      }
    }
    this.#newest = Math.max(this.#newest, now);
  }
}
