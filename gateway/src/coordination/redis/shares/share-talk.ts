import { bounds, sleep } from "#core/index.ts";
import type { Claim, Clock } from "#ports/index.ts";
import type { ShareOptions } from "../options.ts";
import type { Operation } from "../scripts.ts";
import type { RecallInbox } from "./recall-inbox.ts";
import type { Share, ShareLetter } from "./share.ts";

/** How often the shared counter is told what shares were used for. */
export const shareTellMs = 250;
/** A process that did not answer a recall is not waited for again for this long. */
export const shareDeafMs = 5_000;

export interface ShareTalkParts {
  readonly clock: Clock;
  readonly owner: string;
  /** The epoch that this process counts in. */
  epoch(): string;
  /** Whether this process's lease holds, by its own clock and with a margin. */
  mayUse(atMs: number): boolean;
  isUp(): boolean;
  /** Before it is up, others are told what this process holds, and nothing is asked for. */
  mayTell(): boolean;
  tell(operation: Operation, args: readonly string[]): Promise<readonly unknown[]>;
  /** Opens the way on which others recall what is idle. `onRecall` is told names of tallies. */
  openInbox(onRecall: (name: string) => void): RecallInbox;
}

const sharesPerLetter = 64;
const letters = { window: "w", gauge: "g", budget: "b" } as const;
/** The waits between looks whether everybody has answered a recall; their sum is its bound. */
const recallLooksMs = [1, 2, 4, 8, 16, 32, 64, 128] as const;

/**
 * Tells the shared counter what was used, spent and given back, and asks it for more: now and then, and soon when a share is nearly
 * used up. One message at a time. One whose answer is lost is sent again and done once, because it is numbered.
 */
export class ShareTalk {
  readonly #parts: ShareTalkParts;
  readonly #options: Required<ShareOptions>;
  readonly #find: (name: string) => Share | undefined;
  /** Shares that hold something or were asked for lately. */
  readonly #awake = new Set<Share>();
  readonly #recalls = new Map<string, Promise<void>>();
  /** Of these not everybody answered a recall: until when nobody waits for them again. */
  readonly #deaf = new Map<string, number>();
  #letter: readonly ShareLetter[] | null = null;
  #sending: Promise<void> | null = null;
  #stopTimer: (() => void) | null = null;
  #timerMs = Number.POSITIVE_INFINITY;
  #inbox: RecallInbox | null = null;
  #epoch = "";
  #sentMs = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  #closed = false;

  constructor(parts: ShareTalkParts, options: Required<ShareOptions>, find: (name: string) => Share | undefined) {
    this.#parts = parts;
    this.#options = options;
    this.#find = find;
  }

  get untold(): number {
    let count = this.#letter?.length ?? 0;
    for (const share of this.#awake) if (share.isDirty) count++;
    return count;
  }

  /** When the first of the costs was settled that are not told yet; null: there are none. */
  get untoldSinceMs(): number | null {
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const { costs } of this.#letter ?? []) sinceMs = Math.min(sinceMs, costs[0]?.atMs ?? sinceMs);
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
    const leftMs = this.#sentMs + this.#options.tellMsMin - this.#parts.clock.monotonic();
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
    if (this.#parts.clock.monotonic() < untilMs) return false;
    this.#deaf.delete(name);
    return true;
  }

  joined(shares: Iterable<Share>): Promise<void> {
    const epoch = this.#parts.epoch();
    if (epoch !== this.#epoch) {
      const unanswered = new Map(this.#letter?.map((letter) => [letter.share, letter]));
      this.#letter = null;
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
    const dueMs = this.#parts.clock.monotonic() + ms;
    if (this.#closed || dueMs >= this.#timerMs) return;
    this.#stopTimer?.();
    this.#timerMs = dueMs;
    this.#stopTimer = this.#parts.clock.after(ms, () => {
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
    while (!this.#closed && this.#parts.mayTell()) {
      this.#letter ??= this.#write(asks && !this.#isLeaving && this.#parts.isUp());
      const letter = this.#letter;
      if (letter.length === 0) {
        this.#letter = null;
        return;
      }
      this.#sentMs = this.#parts.clock.monotonic();
      try {
        const args = letter.flatMap((each) => argsOf(each, this.#parts.clock.monotonic()));
        const answer = await this.#parts.tell("lease", [this.#parts.owner, ...args]);
        // Of another epoch, or lapsed: it is sent again, or written anew, when this process has joined again.
        if (answer[0] !== 1 || this.#letter !== letter) return;
        this.#letter = null;
        this.#read(letter, answer);
      } catch {
        // Whoever sends has told of it; it is sent again.
        return;
      }
      if (letter.length < sharesPerLetter) return;
    }
  }

  #write(asks: boolean): readonly ShareLetter[] {
    const atMs = this.#parts.clock.monotonic();
    const { aheadMs, callsMin } = this.#options;
    const written: ShareLetter[] = [];
    for (const share of this.#awake) {
      if (written.length === sharesPerLetter) break;
      if (this.#isLeaving) share.giveBack();
      const want = asks ? share.wanted(atMs, aheadMs, callsMin) : 0;
      if (want > 0 || share.isDirty) written.push(share.letter(want, atMs));
      else if (share.isEmpty && atMs - share.usedMs > shareTellMs * 4) this.#awake.delete(share);
    }
    return written;
  }

  #read(letter: readonly ShareLetter[], answer: readonly unknown[]): void {
    const atMs = this.#parts.clock.monotonic();
    this.#epoch = this.#parts.epoch();
    for (const [index, each] of letter.entries()) {
      each.share.answered(each, answer, 1 + 6 * index, atMs);
      if (each.share.isDirty) this.#book(this.#options.tellMsMin);
    }
    this.#inbox ??= this.#parts.openInbox((name) => this.#recalled(name));
  }

  #recalled(name: string): void {
    const share = this.#find(name);
    if (share === undefined) return;
    share.recalled(this.#parts.clock.monotonic());
    this.#awake.add(share);
    void this.flush();
  }

  async #recall({ kind, key, periodStart }: Claim, name: string): Promise<void> {
    this.#recalled(name);
    const args = [letters[kind], key, String(periodStart), String(bounds.shareRecallPauseMs)];
    for (const waitMs of recallLooksMs) {
      const [unasked] = await this.#parts.tell("recall", args);
      if (unasked === 0) return;
      await sleep(this.#parts.clock, waitMs, null);
    }
    if (this.#deaf.size > bounds.sharesMax) this.#deaf.clear();
    this.#deaf.set(name, this.#parts.clock.monotonic() + shareDeafMs);
  }
}

function argsOf({ share, seq, parts, corrections, costs, give, want }: ShareLetter, atMs: number): readonly string[] {
  const { kind, key, windowMs, periodStart } = share.claim;
  const head = [letters[kind], key, periodStart, share.limit, windowMs, seq, share.active, give, want];
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
