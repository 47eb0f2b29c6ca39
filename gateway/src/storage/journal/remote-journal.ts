import {
  afterRunningFor,
  bounds,
  type Checkpoint,
  type Intent,
  type LedgerEntry,
  type Settlement,
  within,
} from "#core/index.ts";
import type { Clock, Journal, Observer } from "#ports/index.ts";
import { unavailable } from "./journal.ts";
import type { OpenAttemptStore } from "./open-attempt-store.ts";

/** How long a call waits until its intent is in the database; how often checkpoints follow, and how many wait. */
export const remoteIntentMs = 5_000;
const remoteCheckpointMs = 1_000;
const remoteCheckpointsMax = 10_000;

export interface RemoteJournalOptions {
  readonly journal: Journal;
  readonly store: Pick<OpenAttemptStore, "open" | "checkpoint" | "remove" | "removeOf">;
  /** The process: `proc_…`. */
  readonly owner: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

interface Batch {
  readonly intents: Intent[];
  /** Its callers are refused from then on: the database was silent for remoteIntentMs while this process ran. */
  isLate: boolean;
  readonly late: PromiseWithResolvers<never>;
  readonly stopWaiting: () => void;
  readonly stored: PromiseWithResolvers<void>;
}

/**
 * A journal whose intents are in the database too before `synced` resolves. Those of one turn, and those that come while a
 * statement is under way, go in one statement together. A database that does not take them within remoteIntentMs
 * makes the journal refuse attempts at once, until it answers again.
 */
export class RemoteJournal implements Journal {
  readonly #options: RemoteJournalOptions;
  readonly #journal: Journal;
  #answers = true;
  #closed = false;
  /** What the next statement takes. */
  #next: Batch | null = null;
  #storing = false;
  /** Of the latest intent. */
  #latest: Promise<void> = Promise.resolve();
  /** The latest checkpoint of each attempt that had one since they were last told. */
  #checkpoints = new Map<string, Checkpoint>();
  #unbookCheckpoints: (() => void) | null = null;
  /** May be in the database all the same: their callers were refused, and they are settled. */
  #orphans: string[] = [];

  constructor(options: RemoteJournalOptions) {
    this.#options = options;
    this.#journal = options.journal;
  }

  get healthy(): boolean {
    return this.#answers && this.#journal.healthy;
  }

  get lag(): number {
    return this.#journal.lag;
  }

  intent(intent: Intent): void {
    if (!this.#answers) throw unavailable();
    this.#journal.intent(intent);
    if (this.#next === null) {
      this.#next = this.#batch();
      this.#latest = this.#next.stored.promise;
      // Whoever does not wait for it does not need it.
      this.#latest.catch(() => undefined);
      if (!this.#storing) setImmediate(() => void this.#storeAll());
    }
    this.#next.intents.push(intent);
  }

  checkpoint(checkpoint: Checkpoint): void {
    this.#journal.checkpoint(checkpoint);
    if (this.#closed || this.#checkpoints.size >= remoteCheckpointsMax) return;
    this.#checkpoints.set(checkpoint.attemptId, checkpoint);
    this.#unbookCheckpoints ??= this.#options.clock.after(remoteCheckpointMs, () => void this.#tellCheckpoints());
  }

  settle(settlement: Settlement): void {
    this.#checkpoints.delete(settlement.attemptId);
    this.#journal.settle(settlement);
  }

  refuse(entry: LedgerEntry): void {
    this.#journal.refuse(entry);
  }

  synced(): Promise<void> {
    return this.#latest;
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.#journal.drained(signal);
  }

  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#unbookCheckpoints?.();
    await this.#journal.close(timeoutMs);
    // What did not come into the database in time is in the journal, and is taken over with it.
    if (this.#journal.lag > 0 || !this.#answers) return;
    await this.#within(remoteIntentMs, this.#options.store.removeOf(this.#options.owner)).catch(() => undefined);
  }

  async #storeAll(): Promise<void> {
    if (this.#storing) return;
    this.#storing = true;
    for (let batch = this.#next; batch !== null; batch = this.#next) {
      this.#next = null;
      if (this.#answers) await this.#store(batch);
      else this.#refuse(batch, undefined);
    }
    this.#storing = false;
  }

  async #store(batch: Batch): Promise<void> {
    const { clock, store, owner } = this.#options;
    let from = 0;
    let under: Promise<void> = Promise.resolve();
    for (let waitMs: number = bounds.drainRetryMs; ; waitMs = Math.min(waitMs * 2, bounds.drainRetryMsMax)) {
      try {
        while (from < batch.intents.length) {
          const some = batch.intents.slice(from, from + bounds.remoteBatchMax);
          under = store.open(owner, some);
          under.catch(() => undefined);
          await Promise.race([under, batch.late.promise]);
          from += some.length;
        }
        batch.stopWaiting();
        batch.stored.resolve();
        return;
      } catch (thrown) {
        if (batch.isLate) {
          this.#forget(batch, under);
          this.#refuse(batch, thrown);
          return;
        }
      }
      await within(clock, waitMs, batch.late.promise, () => undefined).catch(() => undefined);
    }
  }

  /** A machine that is too busy to run this process for a while says nothing of the database. */
  #batch(): Batch {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => undefined);
    const stopWaiting = afterRunningFor(this.#options.clock, remoteIntentMs, () => {
      batch.isLate = true;
      late.reject(new Error("No answer in time."));
    });
    const batch: Batch = { intents: [], isLate: false, late, stopWaiting, stored: Promise.withResolvers() };
    return batch;
  }

  /** They may come into the database all the same: only when the last statement has ended it is known that they do not later. */
  #forget({ intents }: Batch, under: Promise<void>): void {
    const forget = (): void => {
      const room = bounds.journalBacklogMax - this.#orphans.length;
      this.#orphans.push(...intents.slice(0, Math.max(0, room)).map(({ attemptId }) => attemptId));
      if (this.#answers) this.#bookProbe();
    };
    under.then(forget, forget);
  }

  #refuse(batch: Batch, cause: unknown): void {
    batch.stopWaiting();
    batch.stored.reject(unavailable(cause));
    if (!this.#answers) return;
    this.#answers = false;
    this.#options.observer.log("error", "the database accepts no intents; refusing calls until it does", {
      error: cause instanceof Error ? cause.message : String(cause),
    });
    this.#bookProbe();
  }

  #bookProbe(): void {
    this.#options.clock.after(bounds.drainRetryMsMax, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const { store, observer } = this.#options;
    if (this.#closed) return;
    const orphans = this.#orphans.slice(0, bounds.remoteBatchMax);
    try {
      // Also of none: whether the table can be written is what is asked.
      await this.#within(remoteIntentMs, store.remove(orphans));
    } catch {
      this.#bookProbe();
      return;
    }
    this.#orphans = this.#orphans.slice(orphans.length);
    if (!this.#answers) observer.log("info", "the database accepts intents again");
    this.#answers = true;
    if (this.#orphans.length > 0) this.#bookProbe();
  }

  async #tellCheckpoints(): Promise<void> {
    this.#unbookCheckpoints = null;
    const checkpoints = [...this.#checkpoints.values()];
    this.#checkpoints.clear();
    if (checkpoints.length === 0 || !this.#answers) return;
    // They only sharpen what is known when a disk is lost: the next ones are as good.
    await this.#options.store.checkpoint(checkpoints).catch(() => undefined);
  }

  async #within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
    const late = Promise.withResolvers<never>();
    const unbook = afterRunningFor(this.#options.clock, timeoutMs, () => late.reject(new Error("No answer in time.")));
    work.catch(() => undefined);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      unbook();
    }
  }
}
