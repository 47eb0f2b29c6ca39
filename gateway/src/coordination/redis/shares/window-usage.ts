/** Usage of one short interval, counted as of the end of it. */
export class UsageSlice {
  lastMs: number;
  /** Not sent yet. A settlement before sending corrects it here, a later one is sent as `correction`. */
  unsent: number;
  /** Taken by calls that still run. */
  running: number;
  /** The part of the window in which Redis counted it; null until Redis has answered. */
  serverPart: string | null = null;
  sent = false;
  correction = 0;
  /** It has left the window and no longer counts. */
  hasExpired = false;

  constructor(amount: number, atMs: number) {
    this.lastMs = atMs;
    this.unsent = amount;
    this.running = amount;
  }
}

/** Four for each of the 60 parts in which Redis counts a window. */
const slicesPerWindow = 240;

/**
 * The usage of one window share by calls, and how much of it Redis has counted. A slice is open, then waiting to be sent, then sent; a
 * settlement after that makes it corrected until the correction is sent.
 */
export class WindowUsage {
  readonly #windowMs: number;
  readonly #sliceMs: number;
  #open: UsageSlice | null = null;
  #waiting: UsageSlice[] = [];
  readonly #corrected = new Set<UsageSlice>();
  /** Oldest first. */
  #sent: UsageSlice[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#sliceMs = windowMs / slicesPerWindow;
  }

  get hasUnsent(): boolean {
    return this.#open !== null || this.#waiting.length > 0 || this.#corrected.size > 0;
  }

  /** Used, and in no message yet. */
  get unsent(): number {
    return this.#waiting.reduce((sum, { unsent }) => sum + unsent, this.#open?.unsent ?? 0);
  }

  add(amount: number, atMs: number): UsageSlice {
    let part = this.#open;
    if (part !== null && Math.floor(part.lastMs / this.#sliceMs) !== Math.floor(atMs / this.#sliceMs)) {
      this.#waiting.push(part);
      part = null;
    }
    if (part === null) {
      part = new UsageSlice(amount, atMs);
      this.#open = part;
      return part;
    }
    part.unsent += amount;
    part.running += amount;
    part.lastMs = atMs;
    return part;
  }

  /**
   * A call that took `amount` ends having used `actual`. An excess counts as of now; a remainder is subtracted where it was counted.
   * Returns the change in usage, and whether it is still unsent.
   */
  settle(
    part: UsageSlice,
    amount: number,
    actual: number,
    atMs: number,
  ): { readonly more: number; readonly isNew: boolean } {
    part.running -= amount;
    const more = actual - amount;
    if (more > 0) {
      this.add(more, atMs).running -= more;
      return { more, isNew: true };
    }
    if (more === 0 || this.#hasExpired(part, atMs)) return { more: 0, isNew: false };
    if (!part.sent) {
      part.unsent += more;
      return { more, isNew: true };
    }
    part.correction += more;
    if (part.serverPart !== null) this.#corrected.add(part);
    return { more, isNew: false };
  }

  takeUnsent(atMs: number): {
    readonly parts: readonly UsageSlice[];
    readonly corrections: readonly (readonly [UsageSlice, number])[];
  } {
    const parts = this.#waiting;
    if (this.#open !== null) parts.push(this.#open);
    this.#waiting = [];
    this.#open = null;
    for (const part of parts) part.sent = true;
    const corrections: (readonly [UsageSlice, number])[] = [];
    for (const part of this.#corrected) {
      if (!this.#hasExpired(part, atMs) && part.correction !== 0) corrections.push([part, part.correction]);
      part.correction = 0;
    }
    this.#corrected.clear();
    return { parts, corrections };
  }

  confirm(parts: readonly UsageSlice[], marks: readonly string[], atMs: number): void {
    for (const [index, part] of parts.entries()) {
      part.serverPart = marks[index] ?? null;
      part.unsent = 0;
      if (part.correction !== 0 && part.serverPart !== null) this.#corrected.add(part);
      this.#sent.push(part);
    }
    let over = 0;
    while (over < this.#sent.length) {
      const part = this.#sent[over] as UsageSlice;
      if (part.running > 0 && !this.#hasExpired(part, atMs)) break;
      over++;
    }
    if (over > 0) this.#sent.splice(0, over);
  }

  /** Queues again what running calls took and what Redis never confirmed. Returns that amount. */
  onDataLoss(parts: readonly UsageSlice[]): number {
    const again: UsageSlice[] = [];
    for (const part of this.#sent) {
      if (part.running <= 0) continue;
      part.unsent = part.running;
      again.push(part);
    }
    for (const part of parts) {
      part.unsent += part.correction;
      again.push(part);
    }
    for (const part of again) {
      part.sent = false;
      part.serverPart = null;
      part.correction = 0;
    }
    this.#sent = [];
    this.#corrected.clear();
    this.#waiting = [...again, ...this.#waiting];
    return this.unsent;
  }

  #hasExpired(part: UsageSlice, atMs: number): boolean {
    part.hasExpired ||= atMs - part.lastMs > (this.#windowMs * 63) / 60;
    return part.hasExpired;
  }
}
