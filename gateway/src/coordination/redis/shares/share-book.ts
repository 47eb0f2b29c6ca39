import { bounds } from "#core/index.ts";
import type { AttemptCost, Claim, ClaimState, Clock } from "#ports/index.ts";
import type { Membership } from "../membership.ts";
import type { ShareOptions } from "../options.ts";
import { kindLetters } from "../reservation.ts";
import { LeasedReservation, Share, type Taking } from "./share.ts";
import { ShareTalk } from "./share-talk.ts";

/** A limit is leased in shares if it is at least this many times what one call takes. A share is to last for shareAheadMs. */
const shareCallsPerLimitMin = 20;
const shareAheadMs = 1_000;
/** How soon the shared counter is told again when a share is nearly used up. */
const shareTellMsMin = 10;
/** The age up to which a tally still tells whether a call has a chance. */
const shareGlanceMs = 1_000;
/** Shares that were unused for this long are forgotten. */
const shareIdleMs = 60_000;

/**
 * The shares that this process has of large limits. Most calls are served from them, without a word to the shared counter.
 *
 * The sum is never too large, because what a share holds is taken from the tally before it is used here. All of it is admitted,
 * because what a share does not use goes back: on a timer, when a call is too large for it, at the end, when another process is about to be
 * refused, and by its owner's lease.
 */
export class ShareBook {
  readonly #membership: Membership;
  readonly #clock: Clock;
  readonly #options: Required<ShareOptions>;
  readonly #talk: ShareTalk;
  readonly #shares = new Map<string, Share>();
  #sweep: Iterator<Share> = this.#shares.values();
  #outstanding = 0;

  constructor(membership: Membership, clock: Clock, options: ShareOptions = {}) {
    const { callsPerLimitMin, aheadMs, callsMin, tellMsMin } = options;
    this.#membership = membership;
    this.#clock = clock;
    this.#options = {
      callsPerLimitMin: callsPerLimitMin ?? shareCallsPerLimitMin,
      aheadMs: aheadMs ?? shareAheadMs,
      callsMin: callsMin ?? 0,
      tellMsMin: tellMsMin ?? shareTellMsMin,
    };
    this.#talk = new ShareTalk(membership, clock, this.#options, (name) => this.#shares.get(name));
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  /** Places of limits on concurrency that running calls hold. */
  get places(): number {
    let places = 0;
    for (const { claim, active } of this.#shares.values()) if (claim.kind === "gauge") places += active;
    return places;
  }

  /** Shares with something to tell. */
  get untold(): number {
    return this.#talk.untold;
  }

  get untoldSinceMs(): number | null {
    return this.#talk.untoldSinceMs;
  }

  /** The shares that these claims are for; null when one of them is of a limit that is too small to be leased. */
  sharesOf(claims: readonly Claim[]): readonly Share[] | null {
    const atMs = this.#clock.monotonic();
    const shares: Share[] = [];
    for (const claim of claims) {
      const { kind, limit } = claim;
      const amount = amountOf(claim);
      if (kind !== "budget" && limit < amount * this.#options.callsPerLimitMin) return null;
      if (limit === Number.POSITIVE_INFINITY || !(amount <= limit)) return null;
      const share = this.#find(claim, atMs);
      if (share === null) return null;
      shares.push(share);
    }
    for (const [index, share] of shares.entries()) {
      share.note(amountOf(claims[index] as Claim), atMs);
      this.#talk.attend(share);
    }
    return shares;
  }

  /** All claims from their shares, or none. */
  take(claims: readonly Claim[], shares: readonly Share[]): LeasedReservation | null {
    const clock = this.#clock;
    const atMs = clock.monotonic();
    if (!this.#membership.holdsLease(atMs) || !shares.every((share, index) => share.fits(claims[index] as Claim)))
      return null;
    const takings: Taking[] = [];
    let held = Number.POSITIVE_INFINITY;
    for (const [index, share] of shares.entries()) {
      const claim = claims[index] as Claim;
      const taking = share.take(claim, atMs);
      if (taking === null) {
        for (const taken of takings) taken.share.settle(taken, 0, atMs);
        return null;
      }
      if (claim.kind === "budget") held = taking.amount;
      takings.push(taking);
      if (share.idle < claim.amount) this.#talk.soon();
    }
    this.#outstanding++;
    return new LeasedReservation(takings, held, atMs, ({ share, claim }) => stateOf(share, claim, clock.monotonic()));
  }

  settle(reservation: LeasedReservation, actual: readonly number[]): void {
    if (reservation.ended) return;
    reservation.ended = true;
    this.#outstanding--;
    const atMs = this.#clock.monotonic();
    for (const [index, taking] of reservation.takings.entries()) {
      // What is not told, or is not a number, stays as it was reserved: a caller's mistake gives no free quota.
      const amount = actual[index] ?? Number.NaN;
      taking.share.settle(taking, Number.isFinite(amount) && amount >= 0 ? Math.round(amount) : taking.amount, atMs);
      this.#talk.attend(taking.share);
      if (taking.share.isScarce(atMs)) this.#talk.soon();
    }
  }

  /** False: a budget's share has too little. */
  topUp(reservation: LeasedReservation, amount: number): boolean {
    const budgets = reservation.takings.filter(({ claim }) => claim.kind === "budget");
    if (!this.#membership.holdsLease(this.#clock.monotonic())) return false;
    if (!budgets.every(({ share }) => share.idle >= amount)) return false;
    for (const taking of budgets) taking.share.topUp(taking, amount);
    reservation.held += amount;
    return true;
  }

  /** True: this process has a share of the budget, and tells its cost with that. */
  spend(key: string, periodStart: number, cost: AttemptCost): boolean {
    const share = this.#shares.get(budgetName(key, periodStart));
    if (share === undefined || share.isEmpty || !share.spend({ ...cost, atMs: this.#clock.monotonic() })) {
      return false;
    }
    this.#talk.attend(share);
    return true;
  }

  /** What this process heard of a tally lately; null: nothing. */
  glance(claim: Claim): ClaimState | null {
    const share = this.#shares.get(nameOf(claim));
    const atMs = this.#clock.monotonic();
    return share?.state(claim, atMs, share.idle > 0 ? bounds.redisLeaseMs : shareGlanceMs) ?? null;
  }

  /** How much this process was leased of a tally and does not use. */
  idleOf(claim: Claim): number {
    return Math.max(0, this.#shares.get(nameOf(claim))?.idle ?? 0);
  }

  /** What the shared counter answered of a claim, less what is idle here. */
  seen(claim: Claim, { used, freeInMs, held }: ClaimState): ClaimState {
    const share = this.#shares.get(nameOf(claim));
    if (share === undefined) return { used, limit: claim.limit, freeInMs, ...(held === undefined ? {} : { held }) };
    const atMs = this.#clock.monotonic();
    share.see(used, freeInMs, held ?? 0, atMs);
    return stateOf(share, claim, atMs);
  }

  /** A claim that its share has too little for is taken from the tally; what is idle goes back first. */
  async yieldTo(claims: readonly Claim[]): Promise<void> {
    let isIdle = false;
    for (const claim of claims) {
      const share = this.#shares.get(nameOf(claim));
      if (share === undefined || share.idle <= 0 || share.idle >= claim.amount) continue;
      share.giveBack();
      isIdle = true;
    }
    if (isIdle) await this.#talk.flush();
  }

  /** A share had too little for a call. */
  refill(): void {
    this.#talk.soon();
  }

  /** All that is to be told, told. */
  flush(): Promise<void> {
    return this.#talk.flush();
  }

  /** Asks every process for what it has idle of a tally, and waits for them within a bound. */
  recall(claim: Claim): Promise<void> {
    return this.#talk.recall(claim, nameOf(claim));
  }

  /** Whether a claim's tally may have been leased: somebody has to be asked for it. */
  mayRecall(claim: Claim): boolean {
    return this.#talk.mayRecall(nameOf(claim));
  }

  /** The shared counter is there again, and is the same or another. */
  joined(): Promise<void> {
    return this.#talk.joined(this.#shares.values());
  }

  /** Gives back all that is idle. */
  leave(): Promise<void> {
    return this.#talk.leave(this.#shares.values());
  }

  close(): void {
    this.#talk.close();
  }

  #find(claim: Claim, atMs: number): Share | null {
    const name = nameOf(claim);
    const known = this.#shares.get(name);
    if (known !== undefined) return known;
    this.#forget(2, atMs, shareIdleMs);
    if (this.#shares.size >= bounds.sharesMax) this.#forget(64, atMs, 0);
    if (this.#shares.size >= bounds.sharesMax) return null;
    const share = new Share(name, claim, atMs);
    this.#shares.set(name, share);
    return share;
  }

  /** Looks at some and forgets those that hold nothing and that nobody used for so long. */
  #forget(steps: number, atMs: number, idleMs: number): void {
    for (let step = 0; step < steps; step++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#shares.values();
        return;
      }
      const share = next.value;
      if (share.isEmpty && atMs - share.usedMs > idleMs) {
        this.#shares.delete(share.name);
        this.#talk.forget(share);
      }
    }
  }
}

function stateOf(share: Share, claim: Claim, atMs: number): ClaimState {
  const state = share.state(claim, atMs, Number.POSITIVE_INFINITY);
  return state ?? { used: 0, limit: claim.limit, freeInMs: 0 };
}

/** Nothing costs something, so that a budget that is used up serves nothing. */
function amountOf({ kind, amount }: Claim): number {
  return kind === "budget" ? Math.max(1, amount) : amount;
}

/** As the scripts have it. */
function nameOf({ kind, key, periodStart }: Claim): string {
  return kind === "budget" ? budgetName(key, periodStart) : kindLetters[kind] + key;
}

function budgetName(key: string, periodStart: number): string {
  return `b${key} ${periodStart}`;
}
