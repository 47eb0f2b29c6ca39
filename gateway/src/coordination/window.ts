import type { Claim, ClaimState } from "#ports/index.ts";
import { Share, type Tally } from "./tally.ts";

/** An amount counts until its whole part has left the window: at most 1/60 too long. */
const parts = 60;
/** A power of two with room for the 60 parts and the current one. */
const ringSize = 64;
const ringMask = ringSize - 1;

/**
 * Amount within any `windowMs`. The running part and the 60 before it are counted, one more than fit, so that no span
 * of windowMs, wherever it starts, ever holds more than the limit. Time is monotonic: setting the wall clock frees nothing.
 */
export class Window implements Tally {
  holds = 0;
  readonly #partMs: number;
  readonly #ring = new Float64Array(ringSize);
  #newest: number;
  /** All parts before it are empty. */
  #oldest: number;
  #total = 0;

  constructor(windowMs: number, atMs: number) {
    this.#partMs = windowMs / parts;
    this.#newest = this.partOf(atMs);
    this.#oldest = this.#newest;
  }

  take(claim: Claim, atMs: number): Share | null {
    if (!this.add(claim.amount, claim.limit, atMs)) return null;
    return new Share(this, claim, claim.amount, this.#newest, this.#total, this.#freeInMs(1, atMs));
  }

  settle(share: Share, actual: number, atMs: number): void {
    this.correct(share.mark, actual - share.amount, atMs);
  }

  /** False, and nothing is added, if the amount does not fit. */
  add(amount: number, limit: number, atMs: number): boolean {
    this.#advance(atMs);
    if (!(this.#total + amount <= limit)) return false;
    this.#add(this.#newest, amount);
    return true;
  }

  /** Corrects an amount that was added in a part: an excess counts as of now; a remainder is subtracted from that part. */
  correct(part: number, more: number, atMs: number): void {
    this.#advance(atMs);
    this.#add(more > 0 ? this.#newest : part, more);
  }

  partOf(atMs: number): number {
    return Math.floor(atMs / this.#partMs);
  }

  state(claim: Claim, atMs: number): ClaimState {
    this.#advance(atMs);
    const missing = this.#total + claim.amount - claim.limit;
    return { used: this.#total, limit: claim.limit, freeInMs: this.#freeInMs(missing > 0 ? missing : 1, atMs) };
  }

  /** Counts an amount of `ageMs` ago. */
  seed(amount: number, ageMs: number, atMs: number): void {
    this.#advance(atMs);
    this.#add(this.partOf(atMs - ageMs), amount);
  }

  isIdle(atMs: number): boolean {
    this.#advance(atMs);
    return this.#total === 0;
  }

  /** Does nothing for a part that has left the window already. */
  #add(part: number, amount: number): void {
    if (amount === 0 || part < this.#newest - parts) return;
    const slot = part & ringMask;
    this.#ring[slot] = (this.#ring[slot] ?? 0) + amount;
    this.#total += amount;
    if (part < this.#oldest) this.#oldest = part;
  }

  #advance(atMs: number): void {
    const now = this.partOf(atMs);
    if (now <= this.#newest) return;
    const gone = Math.min(now - parts - 1, this.#newest);
    for (; this.#oldest <= gone && this.#total > 0; this.#oldest++) {
      const slot = this.#oldest & ringMask;
      this.#total -= this.#ring[slot] ?? 0;
      this.#ring[slot] = 0;
    }
    if (this.#total === 0) this.#oldest = now;
    this.#newest = now;
  }

  /** Milliseconds until `amount`, or everything if that is less, has left the window. */
  #freeInMs(amount: number, atMs: number): number {
    if (this.#total === 0) return 0;
    let left = 0;
    let last = this.#oldest;
    for (let part = this.#oldest; part <= this.#newest && left < amount; part++) {
      const held = this.#ring[part & ringMask] ?? 0;
      if (held === 0) {
        if (left === 0) this.#oldest = part + 1;
        continue;
      }
      left += held;
      last = part;
    }
    return Math.max(0, (last + parts + 1) * this.#partMs - atMs);
  }
}
