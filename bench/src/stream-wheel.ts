/**
 * Paces many streams with one timer. The interval of each member counts from the time it was added, so that members added at different
 * times do not fire together.
 */
export class StreamWheel<Member> {
  readonly #slots: Map<Member, number>[] = Array.from({ length: slotsCount }, () => new Map());
  readonly #emit: (member: Member) => boolean;
  #at = tickNow();
  #timer: ReturnType<typeof setInterval> | null = null;
  #members = 0;

  /** `emit` sends one event of a member. It returns false to remove the member. */
  constructor(emit: (member: Member) => boolean) {
    this.#emit = emit;
  }

  /** The first event follows after `gapMs` (at most eight seconds), then one every `gapMs`. */
  enter(member: Member, gapMs: number): void {
    const gap = Math.min(slotsCount - 1, Math.max(1, Math.round(gapMs)));
    if (this.#members++ === 0) this.#at = tickNow();
    this.#slot(tickNow() + gap).set(member, gap);
    this.#timer ??= setInterval(() => this.#turn(), 1);
  }

  #turn(): void {
    for (const now = tickNow(); this.#at < now; ) {
      this.#at += 1;
      const due = this.#slot(this.#at);
      for (const [member, gap] of [...due]) {
        due.delete(member);
        if (this.#emit(member)) this.#slot(this.#at + gap).set(member, gap);
        else this.#gone();
      }
    }
  }

  #gone(): void {
    this.#members -= 1;
    if (this.#members > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #slot(tick: number): Map<Member, number> {
    const slot = this.#slots[tick % slotsCount];
    if (slot === undefined) throw new Error("a tick is a whole number");
    return slot;
  }
}

const slotsCount = 8_192;

function tickNow(): number {
  return Math.floor(performance.now());
}
