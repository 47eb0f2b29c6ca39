import {
  bounds,
  type Checkpoint,
  Failure,
  type Intent,
  type LedgerEntry,
  type Settings,
  type Settlement,
} from "#core/index.ts";
import type { Clock, Journal, Observer } from "#ports/index.ts";
import { diskFiles, type JournalFiles } from "../disk/journal-files.ts";
import { JournalBuffer, JournalSegment } from "./journal-file.ts";
import { encodeCheckpoint, encodeIntent, encodeRefusal, encodeSettlement, recordLetters } from "./journal-record.ts";
import type { JournalDirectory } from "./journal-slots.ts";
import { JournalSync } from "./journal-sync.ts";

/**
 * What the journal needs from whatever moves its records into the database. Positions are the segment, the byte up to
 * which it may be read, and how many settled entries the journal has written up to there.
 */
export interface JournalDrain {
  /** More may be read. Called for every write, so it must cost next to nothing. */
  written(segment: number, end: number, settled: number): void;
  /** Passes the last position on at once instead of at the next notice. */
  hurry(): void;
  /** How many settled entries, of all the journal has counted, are in the database. */
  readonly stored: number;
  /** Called whenever `stored` grows. */
  onStored(listener: () => void): void;
  /** Moves what is left, within `timeoutMs`; the journal writes no more. True when nothing is left to move. */
  finish(timeoutMs: number): Promise<boolean>;
}

/** A segment is closed at this size. */
const journalSegmentBytes = 64 * 1024 * 1024;
/** The backlog of journalBacklogMax records, in bytes. */
const journalBacklogBytesMax = 64 * 1024 * 1024;
/** The wait before a refused write is tried again. */
export const journalRetryMs = 200;

export interface JournalOptions {
  readonly directory: JournalDirectory;
  readonly durability: Settings["ledger.durability"];
  readonly drain: JournalDrain;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** A sync to disk has failed: the process must end, because what it believes written may be lost. Called once. */
  readonly onFatal: (error: Error) => void;
  /** For tests: a disk that refuses, and small segments. */
  readonly files?: JournalFiles;
  readonly segmentBytes?: number;
}

/**
 * The journal, open for writing. Making one throws when the first segment cannot be made.
 *
 * When a record is in the file, where it survives the end of the process:
 *   intent      when `intent` returns, with everything before it
 *   settlement  when `settle` returns, so before the caller gets the end of the answer
 *   checkpoint  at once with an upstream's id, else within bounds.journalSyncMs, as a refusal
 *
 * States:
 *   healthy  records are written and synced
 *   refusing the disk takes no records: intents are refused, settlements wait in the buffer up to a bound, and the write is tried again
 *            every journalRetryMs
 *   fatal    a sync has failed: the process is about to end; settlements are still written
 *   closing  intents are refused, what is in the buffer is written, and the drain moves what is left
 */
export class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #buffer = new JournalBuffer();
  readonly #segment: JournalSegment;
  readonly #sync: JournalSync;
  readonly #drain: JournalDrain;
  readonly #waiters = new Set<{ readonly settled: number; readonly resolve: () => void }>();
  #healthy = true;
  /** Entries settled or refused so far, and how many of them are still in the buffer. */
  #settled = 0;
  #settledWaiting = 0;
  #settledLost = 0;
  #unbookFlush: (() => void) | null = null;
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
    this.#drain.onStored(() => this.#wakeDrained());
  }

  get healthy(): boolean {
    return this.#healthy && this.#closing === null;
  }

  get lag(): number {
    return Math.max(0, this.#settled - this.#drain.stored);
  }

  intent(intent: Intent): void {
    if (!this.healthy) throw unavailable();
    const before = this.#buffer.length;
    if (!this.#buffer.append(recordLetters.intent, encodeIntent(intent))) throw unavailable();
    const length = this.#buffer.length - before;
    if (this.#write()) return;
    // It is the last in the buffer, whatever of the others was written.
    this.#buffer.cut(this.#buffer.length - length);
    throw unavailable(this.#segment.problem);
  }

  checkpoint(checkpoint: Checkpoint): void {
    // Only sharpens a recovery: not worth a place among what a full disk makes us keep.
    if (!this.healthy) return;
    this.#buffer.append(recordLetters.checkpoint, encodeCheckpoint(checkpoint));
    if (checkpoint.upstreamId === null) this.#writeSoon();
    else this.#write();
  }

  settle(settlement: Settlement): void {
    if (!this.#hasRoom()) return;
    const json = encodeSettlement(settlement);
    const kept =
      this.#buffer.append(recordLetters.settle, json) ||
      this.#buffer.append(recordLetters.settle, encodeSettlement({ ...settlement, rawUsage: null, errorCode: null }));
    if (!this.#take(kept)) return;
    // After a failed sync the process is about to end, but what the operating system holds will outlive it.
    // Before the caller can have the answer: a killed process must not leave what it delivered as interrupted.
    if (this.#healthy || this.#sync.fatal !== null) this.#write();
  }

  refuse(entry: LedgerEntry): void {
    if (!this.#hasRoom()) return;
    if (!this.#take(this.#buffer.append(recordLetters.refuse, encodeRefusal(entry)))) return;
    if (this.#healthy) this.#writeSoon();
  }

  synced(): Promise<void> {
    if (this.#sync.fatal !== null) return Promise.reject(unavailable(this.#sync.fatal));
    if (!this.#healthy || !this.#write()) return Promise.reject(unavailable());
    return this.#sync.synced().catch((cause: unknown) => Promise.reject(unavailable(cause)));
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
    this.#unbookFlush?.();
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

  /** False while the disk refuses; what it did not take stays buffered. */
  #write(): boolean {
    const length = this.#buffer.length;
    if (length === 0) return true;
    const taken = this.#segment.write(this.#buffer.bytes, length);
    this.#buffer.dropFirst(taken);
    this.#settledWaiting = taken === length ? 0 : this.#buffer.count(recordLetters.settle, recordLetters.refuse);
    if (taken > 0) {
      this.#sync.wrote();
      this.#drain.written(this.#segment.number, this.#segment.end, this.#settled - this.#settledWaiting);
    }
    if (taken === length) return true;
    this.#fail(this.#segment.problem);
    return false;
  }

  #writeSoon(): void {
    if (this.#buffer.length >= bounds.journalBufferBytes) this.#write();
    else
      this.#unbookFlush ??= this.#options.clock.after(bounds.journalSyncMs, () => {
        this.#unbookFlush = null;
        if (this.#healthy) this.#write();
      });
  }

  #fail(cause: unknown): void {
    if (!this.#healthy) return;
    this.#healthy = false;
    this.#options.observer.log("error", "failed to write the journal; refusing calls until it is writable", {
      error: cause instanceof Error ? cause.message : String(cause),
    });
    this.#bookRetry();
  }

  #bookRetry(): void {
    this.#options.clock.after(journalRetryMs, () => {
      if (this.#closing !== null || this.#sync.fatal !== null) return;
      if (!this.#write() || !this.#segment.hasRoom()) return this.#bookRetry();
      this.#healthy = true;
      this.#options.observer.log("info", "the journal is writable again", { lost: this.#settledLost });
      this.#settledLost = 0;
    });
  }

  #take(kept: boolean): boolean {
    if (!kept) {
      this.#lose();
      return false;
    }
    this.#settled += 1;
    this.#settledWaiting += 1;
    return true;
  }

  /** Whether another settled entry can be kept. While the disk takes them there is no backlog to bound. */
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

  #wakeDrained(): void {
    for (const waiter of this.#waiters) if (waiter.settled <= this.#drain.stored) waiter.resolve();
  }
}

/** No intent, no dispatch. */
export function unavailable(cause?: unknown): Failure {
  return new Failure("ledger_unavailable", "The ledger cannot be written, so the call was not sent.", { cause });
}
