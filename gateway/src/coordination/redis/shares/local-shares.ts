import { bounds } from "#core/index.ts";
import type { Claim, ClaimState, Clock } from "#ports/index.ts";
import { settledAmount } from "../../tally.ts";
import type { Membership } from "../membership.ts";
import type { ShareOptions } from "../options.ts";
import type { BudgetCost } from "../recent-usage.ts";
import { claimCodes } from "../reservation.ts";
import { LeasedReservation, Share, type ShareAllocation } from "./share.ts";
import { ShareSync } from "./share-sync.ts";

/** Limits are leased in shares only if they are at least this many times the size of a call. */
const shareCallsPerLimitMin = 20;
/** How long a share should last at the current demand. */
const shareAheadMs = 1_000;
/** The shortest time between two messages when a share is nearly used up. */
const shareSyncMsMin = 10;
/** Maximum age of a tally's state for predicting whether a call fits. */
const shareStateMs = 1_000;
/** Shares that were unused for this long are evicted. */
const shareIdleMs = 60_000;

/**
 * This process's shares of large limits. Most calls are admitted from them without a round trip to Redis.
 *
 * Limits are never exceeded, because a share's amount is subtracted from the tally before it is used here. No part of a limit is
 * lost, because unused amounts return: periodically, when a call is too large for the share, on shutdown, when another process
 * recalls them, and when this process's lease ends.
 */
export class LocalShares {
  readonly #membership: Membership;
  readonly #clock: Clock;
  readonly #options: Required<ShareOptions>;
  readonly #sync: ShareSync;
  readonly #shares = new Map<string, Share>();
  /** The latest share of each key, found without building its name. */
  readonly #latest: Readonly<Record<Claim["kind"], Map<string, Share>>> = {
    window: new Map(),
    gauge: new Map(),
    budget: new Map(),
  };
  #sweep: Iterator<Share> = this.#shares.values();
  #outstanding = 0;

  constructor(membership: Membership, clock: Clock, options: ShareOptions = {}) {
    const { callsPerLimitMin, aheadMs, callsMin, syncMsMin } = options;
    this.#membership = membership;
    this.#clock = clock;
    this.#options = {
      callsPerLimitMin: callsPerLimitMin ?? shareCallsPerLimitMin,
      aheadMs: aheadMs ?? shareAheadMs,
      callsMin: callsMin ?? 0,
      syncMsMin: syncMsMin ?? shareSyncMsMin,
    };
    this.#sync = new ShareSync(membership, clock, this.#options, (name) => this.#shares.get(name));
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  /** Concurrency slots held by running calls. */
  get heldSlots(): number {
    let places = 0;
    for (const { claim, active } of this.#shares.values()) if (claim.kind === "gauge") places += active;
    return places;
  }

  /** Number of shares with something unsent. */
  get unsent(): number {
    return this.#sync.unsent;
  }

  get unsentSinceMs(): number | null {
    return this.#sync.unsentSinceMs;
  }

  /** The share of each claim; null if the limit of one is too small to be leased. */
  sharesOf(claims: readonly Claim[]): readonly Share[] | null {
    const atMs = this.#clock.monotonic();
    const shares: Share[] = [];
    for (const claim of claims) {
      const { kind, limit } = claim;
      const amount = minimumAmount(claim);
      if (kind !== "budget" && limit < amount * this.#options.callsPerLimitMin) return null;
      if (limit === Number.POSITIVE_INFINITY || !(amount <= limit)) return null;
      const share = this.#find(claim, atMs);
      if (share === null) return null;
      shares.push(share);
    }
    for (let index = 0; index < shares.length; index++) {
      const share = shares[index] as Share;
      share.recordDemand(minimumAmount(claims[index] as Claim), atMs);
      this.#sync.track(share);
    }
    return shares;
  }

  /** Takes all claims from their shares; null, and nothing is taken, if one does not fit. */
  take(claims: readonly Claim[], shares: readonly Share[]): LeasedReservation | null {
    const clock = this.#clock;
    const atMs = clock.monotonic();
    if (!this.#membership.holdsLease(atMs) || !shares.every((share, index) => share.fits(claims[index] as Claim)))
      return null;
    const takings: ShareAllocation[] = [];
    let held = Number.POSITIVE_INFINITY;
    for (let index = 0; index < shares.length; index++) {
      const share = shares[index] as Share;
      const claim = claims[index] as Claim;
      const taking = share.take(claim, atMs);
      if (taking === null) {
        for (const taken of takings) taken.share.settle(taken, 0, atMs);
        return null;
      }
      if (claim.kind === "budget") held = taking.amount;
      takings.push(taking);
      if (share.idle < claim.amount) this.#sync.syncSoon();
    }
    this.#outstanding++;
    return new LeasedReservation(takings, held, atMs, ({ share, claim }) => stateOf(share, claim, clock.monotonic()));
  }

  settle(reservation: LeasedReservation, actual: readonly number[]): void {
    if (reservation.ended) return;
    reservation.ended = true;
    this.#outstanding--;
    const atMs = this.#clock.monotonic();
    for (const [index, taking] of reservation.allocations.entries()) {
      taking.share.settle(taking, Math.round(settledAmount(actual, index, taking.amount)), atMs);
      this.#sync.track(taking.share);
      if (taking.share.isScarce(atMs)) this.#sync.syncSoon();
    }
  }

  /** False: a share of one of the budgets has too little. */
  topUp(reservation: LeasedReservation, amount: number): boolean {
    const budgets = reservation.allocations.filter(({ claim }) => claim.kind === "budget");
    if (!this.#membership.holdsLease(this.#clock.monotonic())) return false;
    if (!budgets.every(({ share }) => share.idle >= amount)) return false;
    for (const taking of budgets) taking.share.topUp(taking, amount);
    reservation.held += amount;
    return true;
  }

  /** False: this process has no share of the budget to report the cost with. */
  spend(cost: BudgetCost): boolean {
    const share = this.#get("budget", cost.key, cost.periodStart);
    if (share === undefined || share.isEmpty || !share.spend(cost)) return false;
    this.#sync.track(share);
    return true;
  }

  /** Without a request to Redis; null: unknown, or too old. */
  recentState(claim: Claim): ClaimState | null {
    const share = this.#shareOf(claim);
    const atMs = this.#clock.monotonic();
    return share?.recentState(claim, atMs, share.idle > 0 ? bounds.redisLeaseMs : shareStateMs) ?? null;
  }

  idleOf(claim: Claim): number {
    return Math.max(0, this.#shareOf(claim)?.idle ?? 0);
  }

  /** Records the state that Redis reported, and returns it without what is idle here. */
  recordState(claim: Claim, { used, freeInMs, held }: ClaimState): ClaimState {
    const share = this.#shareOf(claim);
    if (share === undefined) return { used, limit: claim.limit, freeInMs, ...(held === undefined ? {} : { held }) };
    const atMs = this.#clock.monotonic();
    share.recordState(used, freeInMs, held ?? 0, atMs);
    const state = stateOf(share, claim, atMs);
    // Money leaves a rolling window at the same time, however much is idle in shares.
    return claim.rollingFrom === undefined ? state : { ...state, freeInMs };
  }

  /** Returns what is idle in shares that are too small for their claims, before these are reserved in Redis. */
  async returnIdleFor(claims: readonly Claim[]): Promise<void> {
    let isIdle = false;
    for (const claim of claims) {
      const share = this.#shareOf(claim);
      if (share === undefined || share.idle <= 0 || share.idle >= claim.amount) continue;
      share.returnIdle();
      isIdle = true;
    }
    if (isIdle) await this.#sync.flush();
  }

  requestMore(): void {
    this.#sync.syncSoon();
  }

  flush(): Promise<void> {
    return this.#sync.flush();
  }

  /** Asks every process to return what it has idle of a tally. Resolves when all have answered, or after a bound. */
  recall(claim: Claim): Promise<void> {
    return this.#sync.recall(claim, tallyName(claim));
  }

  /** False: a recall of this tally has just gone unanswered. */
  canRecall(claim: Claim): boolean {
    return this.#sync.canRecall(tallyName(claim));
  }

  onJoined(): Promise<void> {
    return this.#sync.onJoined(this.#shares.values());
  }

  leave(): Promise<void> {
    return this.#sync.leave(this.#shares.values());
  }

  close(): void {
    this.#sync.close();
  }

  #shareOf({ kind, key, periodStart }: Claim): Share | undefined {
    return this.#get(kind, key, periodStart);
  }

  #get(kind: Claim["kind"], key: string, periodStart: number): Share | undefined {
    const latest = this.#latest[kind].get(key);
    if (latest !== undefined && (kind !== "budget" || latest.claim.periodStart === periodStart)) return latest;
    return kind === "budget" ? this.#shares.get(budgetName(key, periodStart)) : undefined;
  }

  #find(claim: Claim, atMs: number): Share | null {
    const known = this.#shareOf(claim);
    if (known !== undefined) return known;
    this.#evictIdle(2, atMs, shareIdleMs);
    if (this.#shares.size >= bounds.sharesMax) this.#evictIdle(64, atMs, 0);
    if (this.#shares.size >= bounds.sharesMax) return null;
    const share = new Share(tallyName(claim), claim, atMs);
    this.#shares.set(share.name, share);
    this.#latest[claim.kind].set(claim.key, share);
    return share;
  }

  #evictIdle(steps: number, atMs: number, idleMs: number): void {
    for (let step = 0; step < steps; step++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#shares.values();
        return;
      }
      const share = next.value;
      if (share.isEmpty && atMs - share.usedMs > idleMs) {
        this.#shares.delete(share.name);
        const latest = this.#latest[share.claim.kind];
        if (latest.get(share.claim.key) === share) latest.delete(share.claim.key);
        this.#sync.untrack(share);
      }
    }
  }
}

function stateOf(share: Share, claim: Claim, atMs: number): ClaimState {
  const state = share.recentState(claim, atMs, Number.POSITIVE_INFINITY);
  return state ?? { used: 0, limit: claim.limit, freeInMs: 0 };
}

/** At least 1 of a budget, so that one that is used up admits nothing, not even free calls. */
function minimumAmount({ kind, amount }: Claim): number {
  return kind === "budget" ? Math.max(1, amount) : amount;
}

/** The same as `nameOf` in the scripts. */
function tallyName({ kind, key, periodStart }: Claim): string {
  return kind === "budget" ? budgetName(key, periodStart) : claimCodes[kind] + key;
}

function budgetName(key: string, periodStart: number): string {
  return `b${key} ${periodStart}`;
}
