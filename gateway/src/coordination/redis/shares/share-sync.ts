import { bounds, Sleeper, sleep } from "#core/index.ts";
import type { Claim, Clock } from "#ports/index.ts";
import type { Membership } from "../membership.ts";
import type { ShareOptions } from "../options.ts";
import type { RedisLink } from "../redis-link.ts";
import { claimCodes } from "../reservation.ts";
import type { Share, ShareMessage } from "./share.ts";

/** How often usage of shares is reported. */
export const shareSyncMs = 250;
/** After an unanswered recall, the tally is not recalled again for this long. */
export const shareUnresponsiveMs = 5_000;

const sharesPerMessage = 64;
/** Delays between polls for the answers to a recall; their sum is its timeout. */
const recallPollsMs = [1, 2, 4, 8, 16, 32, 64, 128] as const;

/**
 * Reports what shares used, spent and returned, and requests more: periodically, and soon when a share is nearly used up.
 * One message is in flight at a time. If its answer is lost, it is sent again; its sequence number makes that idempotent.
 */
export class ShareSync {
  readonly #membership: Membership;
  readonly #clock: Clock;
  readonly #options: Required<ShareOptions>;
  readonly #find: (name: string) => Share | undefined;
  /** Shares that hold something or were used recently. */
  readonly #active = new Set<Share>();
  readonly #recalls = new Map<string, Promise<void>>();
  /** By tally: when a recall may be tried again. */
  readonly #unresponsive = new Map<string, number>();
  #message: readonly ShareMessage[] | null = null;
  #sending: Promise<void> | null = null;
  #stopTimer: (() => void) | null = null;
  #timerMs = Number.POSITIVE_INFINITY;
  #inbox: { close(): void } | null = null;
  #epoch = "";
  #sentMs = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  #closed = false;

  constructor(
    membership: Membership,
    clock: Clock,
    options: Required<ShareOptions>,
    find: (name: string) => Share | undefined,
  ) {
    this.#membership = membership;
    this.#clock = clock;
    this.#options = options;
    this.#find = find;
  }

  get unsent(): number {
    let count = this.#message?.length ?? 0;
    for (const share of this.#active) if (share.hasUnsent) count++;
    return count;
  }

  /** When the oldest unsent cost was settled; null: none is unsent. */
  get unsentSinceMs(): number | null {
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const { costs } of this.#message ?? []) sinceMs = Math.min(sinceMs, costs[0]?.atMs ?? sinceMs);
    for (const share of this.#active) sinceMs = Math.min(sinceMs, share.costsSinceMs ?? sinceMs);
    return sinceMs === Number.POSITIVE_INFINITY ? null : sinceMs;
  }

  track(share: Share): void {
    this.#active.add(share);
    if (this.#stopTimer === null) this.#schedule(shareSyncMs);
  }

  untrack(share: Share): void {
    this.#active.delete(share);
  }

  syncSoon(): void {
    const leftMs = this.#sentMs + this.#options.syncMsMin - this.#clock.monotonic();
    if (leftMs > 0) this.#schedule(leftMs);
    else if (this.#sending === null) void this.flush(true);
  }

  /** Resolves when everything unsent was sent, or sending failed. `asks`: request more for shares that are nearly used up. */
  async flush(asks = false): Promise<void> {
    if (this.#sending !== null) await this.#sending;
    await this.#send(asks);
  }

  recall(claim: Claim, name: string): Promise<void> {
    const running = this.#recalls.get(name);
    if (running !== undefined) return running;
    const recall = this.#recall(claim, name).finally(() => this.#recalls.delete(name));
    this.#recalls.set(name, recall);
    return recall;
  }

  canRecall(name: string): boolean {
    const untilMs = this.#unresponsive.get(name);
    if (untilMs === undefined) return true;
    if (this.#clock.monotonic() < untilMs) return false;
    this.#unresponsive.delete(name);
    return true;
  }

  onJoined(shares: Iterable<Share>): Promise<void> {
    const epoch = this.#membership.epoch;
    if (epoch !== this.#epoch) {
      const unanswered = new Map(this.#message?.map((message) => [message.share, message]));
      this.#message = null;
      for (const share of shares) {
        share.onDataLoss(unanswered.get(share) ?? null);
        this.#active.add(share);
      }
      this.#epoch = epoch;
    } else {
      for (const share of shares) {
        if (share.isEmpty) continue;
        share.suspend();
        this.#active.add(share);
      }
    }
    return this.flush();
  }

  async leave(shares: Iterable<Share>): Promise<void> {
    this.#isLeaving = true;
    for (const share of shares) share.returnIdle();
    await this.flush();
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    this.#inbox?.close();
  }

  #schedule(ms: number): void {
    const dueMs = this.#clock.monotonic() + ms;
    if (this.#closed || dueMs >= this.#timerMs) return;
    this.#stopTimer?.();
    this.#timerMs = dueMs;
    this.#stopTimer = this.#clock.after(ms, () => {
      this.#stopTimer = null;
      this.#timerMs = Number.POSITIVE_INFINITY;
      void this.flush(true);
    });
  }

  async #send(asks: boolean): Promise<void> {
    if (this.#sending !== null) return this.#sending;
    this.#sending = this.#sendAll(asks).finally(() => {
      this.#sending = null;
      if (this.#active.size > 0 && this.#stopTimer === null) this.#schedule(shareSyncMs);
    });
    return this.#sending;
  }

  async #sendAll(asks: boolean): Promise<void> {
    while (!this.#closed && this.#membership.canSend) {
      this.#message ??= this.#collect(asks && !this.#isLeaving && this.#membership.isUp);
      const message = this.#message;
      if (message.length === 0) {
        this.#message = null;
        return;
      }
      this.#sentMs = this.#clock.monotonic();
      try {
        const args = message.flatMap((each) => shareMessageArgs(each, this.#clock.monotonic()));
        const answer = await this.#membership.trySend("lease", [this.#membership.owner, ...args]);
        // Stale epoch or lapsed lease: repeated, or collected anew, after this process has rejoined.
        if (answer[0] !== 1 || this.#message !== message) return;
        this.#message = null;
        this.#apply(message, answer);
      } catch {
        // Logged by Membership; the message stays and is sent again.
        return;
      }
      if (message.length < sharesPerMessage) return;
    }
  }

  #collect(asks: boolean): readonly ShareMessage[] {
    const atMs = this.#clock.monotonic();
    const { aheadMs, callsMin } = this.#options;
    const written: ShareMessage[] = [];
    for (const share of this.#active) {
      if (written.length === sharesPerMessage) break;
      if (this.#isLeaving) share.returnIdle();
      const want = asks ? share.refillAmount(atMs, aheadMs, callsMin) : 0;
      if (want > 0 || share.hasUnsent) written.push(share.takeMessage(want, atMs));
      else if (share.isEmpty && atMs - share.usedMs > shareSyncMs * 4) this.#active.delete(share);
    }
    return written;
  }

  #apply(message: readonly ShareMessage[], answer: readonly unknown[]): void {
    const atMs = this.#clock.monotonic();
    this.#epoch = this.#membership.epoch;
    for (const [index, each] of message.entries()) {
      each.share.onResponse(each, answer, 1 + 6 * index, atMs);
      if (each.share.hasUnsent) this.#schedule(this.#options.syncMsMin);
    }
    this.#inbox ??= openRecallInbox(this.#membership, this.#clock, (name) => this.#onRecall(name));
  }

  #onRecall(name: string): void {
    const share = this.#find(name);
    if (share === undefined) return;
    share.onRecall(this.#clock.monotonic());
    this.#active.add(share);
    void this.flush();
  }

  async #recall({ kind, key, periodStart }: Claim, name: string): Promise<void> {
    this.#onRecall(name);
    const args = [claimCodes[kind], key, String(periodStart), String(bounds.shareRecallPauseMs)];
    for (const waitMs of recallPollsMs) {
      const [unasked] = await this.#membership.trySend("recall", args);
      if (unasked === 0) return;
      await sleep(this.#clock, waitMs, null);
    }
    if (this.#unresponsive.size > bounds.sharesMax) this.#unresponsive.clear();
    this.#unresponsive.set(name, this.#clock.monotonic() + shareUnresponsiveMs);
  }
}

function shareMessageArgs(
  { share, seq, parts, corrections, costs, give, want }: ShareMessage,
  atMs: number,
): readonly string[] {
  const { kind, key, windowMs, periodStart } = share.claim;
  const head = [claimCodes[kind], key, periodStart, share.limit, windowMs, seq, share.inUse, give, want];
  return [
    ...head.map(String),
    String(parts.length + corrections.length),
    String(costs.length),
    ...parts.flatMap(({ lastMs, unsent }) => [String(Math.max(0, Math.floor(atMs - lastMs))), String(unsent)]),
    ...corrections.flatMap(([{ serverPart }, amount]) => [`@${serverPart}`, String(amount)]),
    ...costs.flatMap(({ attempt, amount, atMs: settledMs }) => [
      attempt,
      String(amount),
      String(Math.max(0, Math.round(atMs - settledMs))),
    ]),
  ];
}

/** Timeout of one blocking read, in seconds. */
const shareInboxS = 30;

/**
 * Receives recalls through a blocking read of this process's own list, which works in clusters, with sentinels, and with access to
 * our keys only. A missed recall is also in the response to the next message.
 */
function openRecallInbox(membership: Membership, clock: Clock, onRecall: (name: string) => void): { close(): void } {
  const key = membership.inboxKey;
  let link: RedisLink | null = null;
  let isClosed = false;
  const sleeper = new Sleeper(clock);
  const listen = async (): Promise<void> => {
    while (!isClosed) {
      try {
        // A separate connection, because waiting blocks it.
        link ??= await membership.openLink(() => undefined);
        if (isClosed) break;
        const answer = await link.send(key, ["BLPOP", key, String(shareInboxS)]);
        if (Array.isArray(answer)) onRecall(String(answer[1]));
      } catch {
        link?.close();
        link = null;
        await sleeper.sleep(bounds.redisRetryMs);
      }
    }
    link?.close();
  };
  void listen();
  return {
    close() {
      isClosed = true;
      sleeper.end();
      link?.close();
    },
  };
}
