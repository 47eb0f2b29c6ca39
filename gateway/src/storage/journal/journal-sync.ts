import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { JournalFiles } from "../disk/journal-files.ts";

interface SyncOptions {
  readonly files: JournalFiles;
  readonly clock: Clock;
  readonly everyWrite: boolean;
  readonly directory: string;
  readonly currentFile: () => number;
  readonly onFatal: (error: Error) => void;
}

interface Waiter {
  readonly written: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Group sync: one sync to disk covers every write before it, and only one is under way at a time. Without a waiter it
 * follows a write within bounds.journalSyncMs; a waiter makes it start at once. A sync that fails is final, because the
 * kernel may have thrown the unwritten pages away and would report the next one as good.
 */
export class JournalSync {
  readonly #options: SyncOptions;
  #written = 0;
  #synced = 0;
  #running: Promise<void> | null = null;
  #unbook: (() => void) | null = null;
  #waiters: Waiter[] = [];
  #retired: number[] = [];
  /** A new file's name is only durable once its directory is synced. */
  #newName = true;
  #fatal: Error | null = null;

  constructor(options: SyncOptions) {
    this.#options = options;
  }

  get fatal(): Error | null {
    return this.#fatal;
  }

  /** Something was written. Cheap: this stands on the hot path. */
  wrote(): void {
    this.#written += 1;
    if (this.#isDue() && this.#unbook === null && this.#running === null) this.#book();
  }

  /** A full file is synced before it is closed, whatever the durability: later it could only be said to be. */
  retire(file: number): void {
    this.#newName = true;
    this.#retired.push(file);
  }

  /** Resolves when everything written so far is on the disk. */
  synced(): Promise<void> {
    if (this.#fatal !== null) return Promise.reject(this.#fatal);
    if (this.#synced === this.#written) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      this.#waiters.push({ written: this.#written, resolve, reject });
      if (this.#running === null) this.#start();
    });
  }

  /** Waits for the sync under way and closes what it held. Nothing may be written afterwards. */
  async close(): Promise<void> {
    this.#unbook?.();
    this.#unbook = null;
    while (this.#running !== null) await this.#running;
    for (const file of this.#retired.splice(0)) this.#options.files.close(file);
  }

  #isDue(): boolean {
    return this.#options.everyWrite || this.#retired.length > 0;
  }

  #book(): void {
    this.#unbook = this.#options.clock.after(bounds.journalSyncMs, () => {
      this.#unbook = null;
      if (this.#running === null && this.#synced < this.#written) this.#start();
    });
  }

  #start(): void {
    this.#unbook?.();
    this.#unbook = null;
    this.#running = this.#run().then(
      () => this.#ended(),
      (cause: unknown) => this.#die(cause),
    );
  }

  async #run(): Promise<void> {
    const { files, directory } = this.#options;
    const written = this.#written;
    // The file that has what was written until now: the current one may be another before the first sync is done.
    const current = this.#options.currentFile();
    const retired = this.#retired.splice(0);
    const newName = this.#newName;
    this.#newName = false;
    // Older segments first, so that no settlement is durable before its intent.
    for (const file of retired) await files.sync(file);
    await files.sync(current);
    if (newName) await files.syncDirectory(directory);
    for (const file of retired) files.close(file);
    this.#synced = written;
  }

  #ended(): void {
    this.#running = null;
    const done = this.#waiters.filter((waiter) => waiter.written <= this.#synced);
    this.#waiters = this.#waiters.filter((waiter) => waiter.written > this.#synced);
    for (const waiter of done) waiter.resolve();
    if (this.#waiters.length > 0) this.#start();
    else if (this.#isDue() && this.#synced < this.#written) this.#book();
  }

  #die(cause: unknown): void {
    this.#running = null;
    this.#fatal = new Error("The journal could not be synced to disk; what was written may be lost.", { cause });
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#fatal);
    this.#options.onFatal(this.#fatal);
  }
}
