import { bounds, Sleeper, sleep } from "#core/index.ts";
import type { Claim, Clock } from "#ports/index.ts";
import type { Membership } from "../membership.ts";
import type { ShareOptions } from "../options.ts";
import type { RedisLink } from "../redis-link.ts";
import { kindLetters } from "../reservation.ts";
import type { Share, ShareMessage } from "./share.ts";

/** How often the shared counter is told what shares were used for. */
export const shareTellMs = 250;
/** A process that did not answer a recall is not waited for again for this long. */
export const shareDeafMs = 5_000;

const sharesPerMessage = 64;
/** The waits between looks whether everybody has answered a recall; their sum is its bound. */
const recallLooksMs = [1, 2, 4, 8, 16, 32, 64, 128] as const;

/**
 * Tells the shared counter what was used, spent and given back, and asks it for more: now and then, and soon when a share is nearly
 * used up. One message at a time. One whose answer is lost is sent again and done once, because it is numbered.
 */
export class ShareTalk {
  readonly #membership: Membership;
  readonly #clock: Clock;
  readonly #options: Required<ShareOptions>;
  readonly #find: (name: string) => Share | undefined;
  /** Shares that hold something or were asked for lately. */
  readonly #awake = new Set<Share>();
  readonly #recalls = new Map<string, Promise<void>>();
  /** Of these not everybody answered a recall: until when nobody waits for them again. */
  readonly #deaf = new Map<string, number>();
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

  get untold(): number {
    let count = this.#message?.length ?? 0;
    for (const share of this.#awake) if (share.isDirty) count++;
    return count;
  }

  /** When the first of the costs was settled that are not told yet; null: there are none. */
  get untoldSinceMs(): number | null {
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const { costs } of this.#message ?? []) sinceMs = Math.min(sinceMs, costs[0]?.atMs ?? sinceMs);
    for (const share of this.#awake) sinceMs = Math.min(sinceMs, share.costsSinceMs ?? sinceMs);
    return sinceMs === Number.POSITIVE_INFINITY ? null : sinceMs;
  }

  /** It is looked after from now on. */
  attend(share: Share): void {
    this.#awake.add(share);
    if (this.#stopTimer === null) this.#book(shareTellMs);
  }

  forget(share: Share): void {
    this.#awake.delete(share);
  }

  /** A share is used up, or nearly. */
  soon(): void {
    const leftMs = this.#sentMs + this.#options.tellMsMin - this.#clock.monotonic();
    if (leftMs > 0) this.#book(leftMs);
    else if (this.#sending === null) void this.flush(true);
  }

  /** Resolves when all that was there to tell is told, or could not be. `asks`: for more, where a share is nearly used up. */
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

  mayRecall(name: string): boolean {
    const untilMs = this.#deaf.get(name);
    if (untilMs === undefined) return true;
    if (this.#clock.monotonic() < untilMs) return false;
    this.#deaf.delete(name);
    return true;
  }

  joined(shares: Iterable<Share>): Promise<void> {
    const epoch = this.#membership.epoch;
    if (epoch !== this.#epoch) {
      const unanswered = new Map(this.#message?.map((message) => [message.share, message]));
      this.#message = null;
      for (const share of shares) {
        share.lost(unanswered.get(share) ?? null);
        this.#awake.add(share);
      }
      this.#epoch = epoch;
    } else {
      for (const share of shares) {
        if (share.isEmpty) continue;
        share.doubt();
        this.#awake.add(share);
      }
    }
    return this.flush();
  }

  async leave(shares: Iterable<Share>): Promise<void> {
    this.#isLeaving = true;
    for (const share of shares) share.giveBack();
    await this.flush();
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    this.#inbox?.close();
  }

  #book(ms: number): void {
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

  /** One after the other, until nothing is to be told. */
  async #send(asks: boolean): Promise<void> {
    if (this.#sending !== null) return this.#sending;
    this.#sending = this.#sendAll(asks).finally(() => {
      this.#sending = null;
      if (this.#awake.size > 0 && this.#stopTimer === null) this.#book(shareTellMs);
    });
    return this.#sending;
  }

  async #sendAll(asks: boolean): Promise<void> {
    while (!this.#closed && this.#membership.mayTell) {
      this.#message ??= this.#write(asks && !this.#isLeaving && this.#membership.isUp);
      const message = this.#message;
      if (message.length === 0) {
        this.#message = null;
        return;
      }
      this.#sentMs = this.#clock.monotonic();
      try {
        const args = message.flatMap((each) => argsOf(each, this.#clock.monotonic()));
        const answer = await this.#membership.tell("lease", [this.#membership.owner, ...args]);
        // Of another epoch, or lapsed: it is sent again, or written anew, when this process has joined again.
        if (answer[0] !== 1 || this.#message !== message) return;
        this.#message = null;
        this.#read(message, answer);
      } catch {
        // Whoever sends has told of it; it is sent again.
        return;
      }
      if (message.length < sharesPerMessage) return;
    }
  }

  #write(asks: boolean): readonly ShareMessage[] {
    const atMs = this.#clock.monotonic();
    const { aheadMs, callsMin } = this.#options;
    const written: ShareMessage[] = [];
    for (const share of this.#awake) {
      if (written.length === sharesPerMessage) break;
      if (this.#isLeaving) share.giveBack();
      const want = asks ? share.wanted(atMs, aheadMs, callsMin) : 0;
      if (want > 0 || share.isDirty) written.push(share.message(want, atMs));
      else if (share.isEmpty && atMs - share.usedMs > shareTellMs * 4) this.#awake.delete(share);
    }
    return written;
  }

  #read(message: readonly ShareMessage[], answer: readonly unknown[]): void {
    const atMs = this.#clock.monotonic();
    this.#epoch = this.#membership.epoch;
    for (const [index, each] of message.entries()) {
      each.share.answered(each, answer, 1 + 6 * index, atMs);
      if (each.share.isDirty) this.#book(this.#options.tellMsMin);
    }
    this.#inbox ??= openRecallInbox(this.#membership, this.#clock, (name) => this.#recalled(name));
  }

  #recalled(name: string): void {
    const share = this.#find(name);
    if (share === undefined) return;
    share.recalled(this.#clock.monotonic());
    this.#awake.add(share);
    void this.flush();
  }

  async #recall({ kind, key, periodStart }: Claim, name: string): Promise<void> {
    this.#recalled(name);
    const args = [kindLetters[kind], key, String(periodStart), String(bounds.shareRecallPauseMs)];
    for (const waitMs of recallLooksMs) {
      const [unasked] = await this.#membership.tell("recall", args);
      if (unasked === 0) return;
      await sleep(this.#clock, waitMs, null);
    }
    if (this.#deaf.size > bounds.sharesMax) this.#deaf.clear();
    this.#deaf.set(name, this.#clock.monotonic() + shareDeafMs);
  }
}

function argsOf({ share, seq, parts, corrections, costs, give, want }: ShareMessage, atMs: number): readonly string[] {
  const { kind, key, windowMs, periodStart } = share.claim;
  const head = [kindLetters[kind], key, periodStart, share.limit, windowMs, seq, share.active, give, want];
  return [
    ...head.map(String),
    String(parts.length + corrections.length),
    String(costs.length),
    ...parts.flatMap(({ lastMs, untold }) => [String(Math.max(0, Math.floor(atMs - lastMs))), String(untold)]),
    ...corrections.flatMap(([{ mark }, amount]) => [`@${mark}`, String(amount)]),
    ...costs.flatMap(({ attemptId, amount, atMs: settledMs }) => [
      attemptId,
      String(amount),
      String(Math.max(0, Math.round(atMs - settledMs))),
    ]),
  ];
}

/** Seconds that one question for recalls waits. */
const shareInboxS = 30;

/**
 * Waits for recalls on a list of this process's own: a blocking read, which needs no right but that to its keys, and which a cluster and
 * sentinels know. What is missed here is seen in the next answer to a message.
 */
function openRecallInbox(membership: Membership, clock: Clock, onRecall: (name: string) => void): { close(): void } {
  const key = membership.inboxKey;
  let link: RedisLink | null = null;
  let isClosed = false;
  const sleeper = new Sleeper(clock);
  const listen = async (): Promise<void> => {
    while (!isClosed) {
      try {
        // A connection of its own, since waiting blocks it.
        link ??= await membership.openLink(() => undefined);
        if (isClosed) break;
        const answer = await link.send(key, ["BLPOP", key, String(shareInboxS)]);
        if (Array.isArray(answer)) onRecall(String(answer[1]));
      } catch {
        // Another one is made with the certificates of then.
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
