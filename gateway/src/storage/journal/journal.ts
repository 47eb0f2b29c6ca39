import {
  bounds,
  type Checkpoint,
  type GuardrailCheckEntry,
  type Intent,
  type LedgerEntry,
  ledgerUnavailable,
  type Settings,
  type Settlement,
} from "#core/index.ts";
import type { Clock, Journal, Observer } from "#ports/index.ts";
import { diskFiles, type JournalFiles } from "../disk/journal-files.ts";
import { JournalBuffer, JournalSegment } from "./journal-file.ts";
import {
  encodeCheck,
  encodeCheckpoint,
  encodeIntent,
  encodeRefusal,
  encodeSettlement,
  recordTypes,
} from "./journal-record.ts";
import type { JournalDirectory } from "./journal-slots.ts";
import { JournalSync } from "./journal-sync.ts";

/**
 * Moves the records of the journal into the database. A position is a segment, the offset up to which it may be read, and the number of
 * settled entries written up to there.
 */
export interface JournalDrain {
  /** More may be read. Called for every write, so it must be cheap. */
  written(segment: number, end: number, settled: number): void;
  /** Reads up to the last position at once. */
  hurry(): void;
  /** Number of settled entries of this journal that are in the database. */
  readonly stored: number;
  /** Called whenever `stored` grows. */
  onStored(listener: () => void): void;
  /** Moves the rest within `timeoutMs`, after the last write. Resolves to whether nothing is left. */
  finish(timeoutMs: number): Promise<boolean>;
}

/** A segment is closed at this size. */
const journalSegmentBytes = 64 * 1024 * 1024;
/** The backlog of journalBacklogMax records, in bytes. */
const journalBacklogBytesMax = 64 * 1024 * 1024;
/** Delay before a failed write is retried. */
export const journalRetryMs = 200;

export interface JournalOptions {
  readonly directory: JournalDirectory;
  readonly durability: Settings["ledger.durability"];
  readonly drain: JournalDrain;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** Called once, when a sync to disk has failed: the process must end, because written records may be lost. */
  readonly onFatal: (error: Error) => void;
  /** For tests: a disk that fails, and small segments. */
  readonly files?: JournalFiles;
  readonly segmentBytes?: number;
}

/**
 * The journal, open for writing. The constructor throws if the first segment cannot be created.
 *
 * A record is in the file, where it survives the end of the process:
 *   intent      when `flush` returns true, which is called before its request is sent
 *   settlement  the same, before its caller gets the end of the answer
 *   checkpoint  at once if it has an upstream's id, else within bounds.journalSyncMs
 *   refusal     within bounds.journalSyncMs, like a check
 *
 * Both are also written at the end of their turn of the event loop.
 *
 * States:
 *   healthy  records are written and synced
 *   refusing the disk accepts no records: intents fail, settlements are buffered up to a bound, and the write is retried every
 *            journalRetryMs
 *   fatal    a sync has failed: the process is about to end; settlements are still written
 *   closing  intents fail, the buffer is written, and the drain moves the rest
 */
export class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #buffer = new JournalBuffer();
  readonly #segment: JournalSegment;
  readonly #sync: JournalSync;
  readonly #drain: JournalDrain;
  readonly #waiters = new Set<{ readonly settled: number; readonly resolve: () => void }>();
  #healthy = true;
  /** Number of settlements, refusals and checks so far, and those that are still in the buffer. */
  #settled = 0;
  #settledWaiting = 0;
  #settledLost = 0;
  #cancelFlush: (() => void) | null = null;
  /** `flush` follows in this turn. */
  #flushing = false;
  #closing: Promise<void> | null = null;
  #closed = false;

  constructor(options: JournalOptions) {
    const { directory, clock, onFatal, files = diskFiles, segmentBytes = journalSegmentBytes } = options;
    this.#options = options;
    this.#drain = options.drain;
    this.#segment = new JournalSegment({
      directory: directory.path,
      files,
      firstSegment: directory.firstSegment,
      segmentBytes,
      retire: (file) => this.#sync.retire(file),
    });
    this.#sync = new JournalSync({
      files,
      clock,
      everyWrite: options.durability !== "process",
      directory: directory.path,
      currentFile: () => this.#segment.file,
      onFatal: (error) => {
        this.#healthy = false;
        onFatal(error);
      },
    });
    this.#drain.onStored(() => this.#resolveDrained());
  }

  get healthy(): boolean {
    return this.#healthy && this.#closing === null;
  }

  get lag(): number {
    return Math.max(0, this.#settled - this.#drain.stored);
  }

  intent(intent: Intent): void {
    if (!this.healthy) throw ledgerUnavailable();
    if (!this.#buffer.append(recordTypes.intent, encodeIntent(intent))) throw ledgerUnavailable();
    this.#flushSoon();
  }

  flush(): boolean {
    if (this.#buffer.length === 0) return true;
    // After a failed sync the process is about to end, but the operating system may still write it.
    return !this.#closed && (this.#healthy || this.#sync.fatal !== null) && this.#write();
  }

  checkpoint(checkpoint: Checkpoint): void {
    // Checkpoints only make a recovery more exact, so they are not buffered while the disk is full.
    if (!this.healthy) return;
    this.#buffer.append(recordTypes.checkpoint, encodeCheckpoint(checkpoint));
    if (checkpoint.upstreamId === null) this.#writeSoon();
    else this.#write();
  }

  settle(settlement: Settlement): void {
    if (!this.#hasRoom()) return;
    const json = encodeSettlement(settlement);
    const isBuffered =
      this.#buffer.append(recordTypes.settle, json) ||
      this.#buffer.append(recordTypes.settle, encodeSettlement({ ...settlement, rawUsage: null, errorCode: null }));
    if (this.#take(isBuffered)) this.#flushSoon();
  }

  refuse(entry: LedgerEntry): void {
    this.#appendWhole(recordTypes.refuse, encodeRefusal(entry));
  }

  check(check: GuardrailCheckEntry): void {
    this.#appendWhole(recordTypes.check, encodeCheck(check));
  }

  synced(): Promise<void> {
    if (this.#sync.fatal !== null) return Promise.reject(ledgerUnavailable(this.#sync.fatal));
    if (!this.#healthy || !this.#write()) return Promise.reject(ledgerUnavailable());
    return this.#sync.synced().catch((cause: unknown) => Promise.reject(ledgerUnavailable(cause)));
  }

  drained(signal: AbortSignal): Promise<void> {
    if (this.#healthy && !this.#closed) this.#write();
    this.#drain.hurry();
    if (this.lag === 0 || signal.aborted) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const waiter = {
        settled: this.#settled,
        resolve: () => {
          this.#waiters.delete(waiter);
          signal.removeEventListener("abort", waiter.resolve);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", waiter.resolve);
    });
  }

  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number): Promise<void> {
    const { clock, directory, files = diskFiles, observer } = this.#options;
    const deadline = clock.monotonic() + timeoutMs;
    this.#cancelFlush?.();
    this.#write();
    if (this.#sync.fatal === null) await this.#sync.synced().catch(() => undefined);
    await this.#sync.close();
    const written = this.#write();
    if (!written) observer.log("error", "failed to write the end of the journal", { lost: this.#settledWaiting });
    this.#closed = true;
    files.close(this.#segment.file);
    const clean = await this.#drain.finish(Math.max(0, deadline - clock.monotonic()));
    if (!clean) observer.log("warn", "the ledger drain did not finish in time; the next start continues it");
    for (const waiter of this.#waiters) waiter.resolve();
    directory.release();
  }

  #appendWhole(type: number, json: string): void {
    if (!this.#hasRoom()) return;
    if (!this.#take(this.#buffer.append(type, json))) return;
    if (this.#healthy) this.#writeSoon();
  }

  /** Returns false if the disk did not accept all bytes. The rest stays in the buffer. */
  #write(): boolean {
    const length = this.#buffer.length;
    if (length === 0) return true;
    const written = this.#segment.write(this.#buffer.bytes, length);
    this.#buffer.dropFirst(written);
    this.#settledWaiting =
      written === length ? 0 : this.#buffer.count(recordTypes.settle, recordTypes.refuse, recordTypes.check);
    if (written > 0) {
      this.#sync.wrote();
      this.#drain.written(this.#segment.number, this.#segment.end, this.#settled - this.#settledWaiting);
    }
    if (written === length) return true;
    this.#fail(this.#segment.problem);
    return false;
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(this.#flushNow);
  }

  readonly #flushNow = (): void => {
    this.#flushing = false;
    this.flush();
  };

  #writeSoon(): void {
    if (this.#buffer.length >= bounds.journalBufferBytes) this.#write();
    else
      this.#cancelFlush ??= this.#options.clock.after(bounds.journalSyncMs, () => {
        this.#cancelFlush = null;
        if (this.#healthy) this.#write();
      });
  }

  #fail(cause: unknown): void {
    if (!this.#healthy) return;
    this.#healthy = false;
    this.#options.observer.log("error", "failed to write the journal; refusing calls until it is writable", {
      error: cause instanceof Error ? cause.message : String(cause),
    });
    this.#retryLater();
  }

  #retryLater(): void {
    this.#options.clock.after(journalRetryMs, () => {
      if (this.#closing !== null || this.#sync.fatal !== null) return;
      if (!this.#write() || !this.#segment.hasRoom()) return this.#retryLater();
      this.#healthy = true;
      this.#options.observer.log("info", "the journal is writable again", { lost: this.#settledLost });
      this.#settledLost = 0;
    });
  }

  #take(isBuffered: boolean): boolean {
    if (!isBuffered) {
      this.#lose();
      return false;
    }
    this.#settled += 1;
    this.#settledWaiting += 1;
    return true;
  }

  /** Whether another settlement can be buffered. A healthy journal has no backlog. */
  #hasRoom(): boolean {
    const isRoom =
      !this.#closed &&
      (this.#healthy ||
        (this.#settledWaiting < bounds.journalBacklogMax && this.#buffer.length < journalBacklogBytesMax));
    if (!isRoom) this.#lose();
    return isRoom;
  }

  /** The attempt stays open in the file and is settled as interrupted at the next start. */
  #lose(): void {
    this.#settledLost += 1;
    if (this.#settledLost > 1) return;
    this.#options.observer.log(
      "error",
      "the journal has no room for a settled entry; it will be recovered as interrupted",
    );
  }

  #resolveDrained(): void {
    for (const waiter of this.#waiters) if (waiter.settled <= this.#drain.stored) waiter.resolve();
  }
}
