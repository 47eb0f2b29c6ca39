import { within } from "#core/index.ts";
import type { Clock, KeptLease, Lease, Leases, Observer } from "#ports/index.ts";

/** How long an answer about a lease is waited for. */
export const leaseAnswerMs = 4_000;
/** The holder stops this much before its lease ends: clocks differ, and work needs time to stop. */
export const leaseMarginMs = 2_000;

export interface RenewedLeaseOptions {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly leaseMs: number;
}

/** A lease in the hands of this process: renewed at each third of its time, and given up in time when that fails. */
export class RenewedLease implements KeptLease {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
  readonly #options: RenewedLeaseOptions;
  readonly #lost = new AbortController();
  #heldUntilMs: number;
  #stopRenewal: () => void = () => {};
  #stopDoubt: () => void = () => {};
  #ended = false;

  constructor(options: RenewedLeaseOptions, { name, owner, fence }: Lease, askedMs: number) {
    this.name = name;
    this.owner = owner;
    this.fence = fence;
    this.#options = options;
    this.#heldUntilMs = askedMs + this.#believedMs;
    this.#doubtLater();
    this.#renewLater();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get isHeld(): boolean {
    if (this.#lost.signal.aborted) return false;
    if (this.#options.clock.monotonic() < this.#heldUntilMs) return true;
    this.lose("it was not renewed in time");
    return false;
  }

  lose(why: string): void {
    this.#stopRenewal();
    this.#stopDoubt();
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(new Error(`The lease ${this.name} is no longer held: ${why}.`));
  }

  /** Others may have it. A release that cannot be told is left to its time. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.lose("its work has ended");
    const { leases, clock } = this.#options;
    await leaseAnswer(clock, leases.release(this)).catch(() => undefined);
  }

  get #believedMs(): number {
    const { leaseMs } = this.#options;
    return Math.max(leaseMs - leaseMarginMs, leaseMs / 2);
  }

  #renewLater(): void {
    const { clock, leaseMs } = this.#options;
    this.#stopRenewal = clock.after(leaseMs / 3, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { leases, clock, observer, leaseMs } = this.#options;
    const askedMs = clock.monotonic();
    // By the database it may still be held; but work under it may have been told otherwise already.
    if (!this.isHeld) return;
    // Booked before the answer: one that is silent is asked again.
    this.#renewLater();
    try {
      const isRenewed = await leaseAnswer(clock, leases.renew(this, leaseMs));
      if (!isRenewed) {
        if (this.isHeld) observer.log("warn", "A lease was lost to another process.", { lease: this.name });
        this.lose("another process has it");
      } else if (this.isHeld) {
        this.#heldUntilMs = Math.max(this.#heldUntilMs, askedMs + this.#believedMs);
        this.#doubtLater();
      }
    } catch (error) {
      observer.log("debug", "A lease could not be renewed; trying again.", { lease: this.name, error });
    }
  }

  #doubtLater(): void {
    const { clock, observer } = this.#options;
    this.#stopDoubt();
    this.#stopDoubt = clock.after(this.#heldUntilMs - clock.monotonic(), () => {
      if (this.#lost.signal.aborted) return;
      observer.log("warn", "A lease could not be renewed in time; its work is left to others.", { lease: this.name });
      this.lose("it was not renewed in time");
    });
  }
}

/** Rejects when the database does not answer in time. */
export function leaseAnswer<Result>(clock: Clock, answer: Promise<Result>): Promise<Result> {
  return within(clock, leaseAnswerMs, answer, () => {
    throw new Error(`There was no answer within ${leaseAnswerMs} ms.`);
  });
}
