/** Time. `now` is Unix milliseconds and may jump; `monotonic` is milliseconds with fractions and never goes back. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Runs `act` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, act: () => void): () => void;
}

/** Time-ordered, prefixed, unique: `req_`, `att_`, `key_` … */
export interface Ids {
  next(prefix: string): string;
}

/** Chance: a number in [0, 1). */
export interface Chance {
  unit(): number;
}
