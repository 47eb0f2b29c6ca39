/** What calls took of a share of a window within a moment, which counts as of its end. */
export class UsedPart {
  lastMs: number;
  /** Not told yet; what is settled meanwhile is corrected here. */
  untold: number;
  /** Of calls that still run. */
  live: number;
  /** Where it was counted; null while that is not known. */
  mark: string | null = null;
  sent = false;
  correction = 0;
  /** It has left the window: nothing of it counts any more. */
  isOver = false;

  constructor(amount: number, atMs: number) {
    this.lastMs = atMs;
    this.untold = amount;
    this.live = amount;
  }
}

/** A quarter of a part of the window in the shared counter. */
const slicesPerWindow = 240;

/** What was taken of one share of a window, and what of it the shared counter knows. */
export class Uses {
  readonly #windowMs: number;
  /** What is taken within this while counts as of its last moment. */
  readonly #sliceMs: number;
  #open: UsedPart | null = null;
  /** Closed and not sent. */
  #waiting: UsedPart[] = [];
  readonly #corrected = new Set<UsedPart>();
  /** Sent, and perhaps not over; the oldest first. */
  #sent: UsedPart[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#sliceMs = windowMs / slicesPerWindow;
  }

  get isDirty(): boolean {
    return this.#open !== null || this.#waiting.length > 0 || this.#corrected.size > 0;
  }

  add(amount: number, atMs: number): UsedPart {
    let part = this.#open;
    if (part !== null && Math.floor(part.lastMs / this.#sliceMs) !== Math.floor(atMs / this.#sliceMs)) {
      this.#waiting.push(part);
      part = null;
    }
    if (part === null) {
      part = new UsedPart(amount, atMs);
      this.#open = part;
      return part;
    }
    part.untold += amount;
    part.live += amount;
    part.lastMs = atMs;
    return part;
  }

  /**
   * A call ends with `actual` in the place of `amount`. More than that is used now, less is taken off in its place. Returns how much
   * more counts than before, and whether the shared counter has yet to be told of it as used.
   */
  end(
    part: UsedPart,
    amount: number,
    actual: number,
    atMs: number,
  ): { readonly more: number; readonly isNew: boolean } {
    part.live -= amount;
    const more = actual - amount;
    if (more > 0) {
      this.add(more, atMs).live -= more;
      return { more, isNew: true };
    }
    if (more === 0 || this.#isOver(part, atMs)) return { more: 0, isNew: false };
    if (!part.sent) {
      part.untold += more;
      return { more, isNew: true };
    }
    part.correction += more;
    if (part.mark !== null) this.#corrected.add(part);
    return { more, isNew: false };
  }

  message(atMs: number): {
    readonly parts: readonly UsedPart[];
    readonly corrections: readonly (readonly [UsedPart, number])[];
  } {
    const parts = this.#waiting;
    if (this.#open !== null) parts.push(this.#open);
    this.#waiting = [];
    this.#open = null;
    for (const part of parts) part.sent = true;
    const corrections: (readonly [UsedPart, number])[] = [];
    for (const part of this.#corrected) {
      if (!this.#isOver(part, atMs) && part.correction !== 0) corrections.push([part, part.correction]);
      part.correction = 0;
    }
    this.#corrected.clear();
    return { parts, corrections };
  }

  told(parts: readonly UsedPart[], marks: readonly string[], atMs: number): void {
    for (const [index, part] of parts.entries()) {
      part.mark = marks[index] ?? null;
      part.untold = 0;
      if (part.correction !== 0 && part.mark !== null) this.#corrected.add(part);
      this.#sent.push(part);
    }
    let over = 0;
    while (over < this.#sent.length) {
      const part = this.#sent[over] as UsedPart;
      if (part.live > 0 && !this.#isOver(part, atMs)) break;
      over++;
    }
    if (over > 0) this.#sent.splice(0, over);
  }

  /** The counter lost all: what runs is told again, and so is what it never heard of. Returns how much that is. */
  lost(parts: readonly UsedPart[]): number {
    const again: UsedPart[] = [];
    for (const part of this.#sent) {
      if (part.live <= 0) continue;
      part.untold = part.live;
      again.push(part);
    }
    for (const part of parts) {
      part.untold += part.correction;
      again.push(part);
    }
    for (const part of again) {
      part.sent = false;
      part.mark = null;
      part.correction = 0;
    }
    this.#sent = [];
    this.#corrected.clear();
    this.#waiting = [...again, ...this.#waiting];
    return this.#waiting.reduce((sum, { untold }) => sum + untold, this.#open?.untold ?? 0);
  }

  #isOver(part: UsedPart, atMs: number): boolean {
    part.isOver ||= atMs - part.lastMs > (this.#windowMs * 63) / 60;
    return part.isOver;
  }
}
