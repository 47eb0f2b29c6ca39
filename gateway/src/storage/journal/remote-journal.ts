import {
  afterRunningFor,
  bounds,
  type Checkpoint,
  type GuardrailCheckEntry,
  type Intent,
  type LedgerEntry,
  ledgerUnavailable,
  type Settlement,
  within,
} from "#core/index.ts";
import type { Clock, Journal, Observer } from "#ports/index.ts";
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
 * Writes intents to the database, too, before `synced` resolves. Intents of one turn, or that arrive while a statement runs, share the
 * next statement. If the database does not store them within remoteIntentMs, attempts are refused until it does.
 */
export class RemoteJournal implements Journal {
  readonly #options: RemoteJournalOptions;
  readonly #journal: Journal;
  #answers = true;
  #closed = false;
  /** The intents of the next statement. */
  #next: Batch | null = null;
  #storing = false;
  /** Resolves when the latest intent is stored. */
  #latest: Promise<void> = Promise.resolve();
  /** The latest checkpoint of each attempt that is not stored yet. */
  #checkpoints = new Map<string, Checkpoint>();
  #cancelCheckpoints: (() => void) | null = null;
  /** Refused and settled attempts whose intents may be in the database all the same. */
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
    if (!this.#answers) throw ledgerUnavailable();
    this.#journal.intent(intent);
    if (this.#next === null) {
      this.#next = this.#batch();
      this.#latest = this.#next.stored.promise;
      // Only `synced` reports a failure.
      this.#latest.catch(() => undefined);
      if (!this.#storing) setImmediate(() => void this.#storeAll());
    }
    this.#next.intents.push(intent);
  }

  flush(): boolean {
    return this.#journal.flush();
  }

  checkpoint(checkpoint: Checkpoint): void {
    this.#journal.checkpoint(checkpoint);
    if (this.#closed || this.#checkpoints.size >= remoteCheckpointsMax) return;
    this.#checkpoints.set(checkpoint.attemptId, checkpoint);
    this.#cancelCheckpoints ??= this.#options.clock.after(remoteCheckpointMs, () => void this.#storeCheckpoints());
  }

  settle(settlement: Settlement): void {
    this.#checkpoints.delete(settlement.attemptId);
    this.#journal.settle(settlement);
  }

  refuse(entry: LedgerEntry): void {
    this.#journal.refuse(entry);
  }

  check(check: GuardrailCheckEntry): void {
    this.#journal.check(check);
  }

  synced(): Promise<void> {
    return this.#latest;
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.#journal.drained(signal);
  }

  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#cancelCheckpoints?.();
    await this.#journal.close(timeoutMs);
    // Entries that are not in the database yet are recovered from the journal.
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

  /** Counts only time in which this process runs: a busy machine does not mean a slow database. */
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

  /** The intents may still be stored until the last statement has ended. */
  #forget({ intents }: Batch, under: Promise<void>): void {
    const forget = (): void => {
      const room = bounds.journalBacklogMax - this.#orphans.length;
      this.#orphans.push(...intents.slice(0, Math.max(0, room)).map(({ attemptId }) => attemptId));
      if (this.#answers) this.#probeLater();
    };
    under.then(forget, forget);
  }

  #refuse(batch: Batch, cause: unknown): void {
    batch.stopWaiting();
    batch.stored.reject(ledgerUnavailable(cause));
    if (!this.#answers) return;
    this.#answers = false;
    this.#options.observer.log("error", "the database accepts no intents; refusing calls until it does", {
      error: cause instanceof Error ? cause.message : String(cause),
    });
    this.#probeLater();
  }

  #probeLater(): void {
    this.#options.clock.after(bounds.drainRetryMsMax, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const { store, observer } = this.#options;
    if (this.#closed) return;
    const orphans = this.#orphans.slice(0, bounds.remoteBatchMax);
    try {
      // Also without orphans: it tests whether the table can be written.
      await this.#within(remoteIntentMs, store.remove(orphans));
    } catch {
      this.#probeLater();
      return;
    }
    this.#orphans = this.#orphans.slice(orphans.length);
    if (!this.#answers) observer.log("info", "the database accepts intents again");
    this.#answers = true;
    if (this.#orphans.length > 0) this.#probeLater();
  }

  async #storeCheckpoints(): Promise<void> {
    this.#cancelCheckpoints = null;
    const checkpoints = [...this.#checkpoints.values()];
    this.#checkpoints.clear();
    if (checkpoints.length === 0 || !this.#answers) return;
    // Checkpoints only make a recovery more exact, so a failure is ignored.
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
