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
 * Group sync: one sync to disk covers every earlier write, and only one runs at a time. It starts within bounds.journalSyncMs of a write,
 * or at once for `synced`. A failed sync is final: the kernel may have dropped the unwritten pages, and would report success
 * for the next one.
 */
export class JournalSync {
  readonly #options: SyncOptions;
  #written = 0;
  #synced = 0;
  #running: Promise<void> | null = null;
  #cancel: (() => void) | null = null;
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

  /** Called after each write. */
  wrote(): void {
    this.#written += 1;
    if (this.#isDue() && this.#cancel === null && this.#running === null) this.#schedule();
  }

  /** Syncs and closes a full file. This happens with any durability, because it cannot be synced after it is closed. */
  retire(file: number): void {
    this.#newName = true;
    this.#retired.push(file);
  }

  /** Resolves when everything written so far is on disk. */
  synced(): Promise<void> {
    if (this.#fatal !== null) return Promise.reject(this.#fatal);
    if (this.#synced === this.#written) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      this.#waiters.push({ written: this.#written, resolve, reject });
      if (this.#running === null) this.#start();
    });
  }

  /** Waits for the running sync and closes retired files. Nothing may be written afterwards. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    while (this.#running !== null) await this.#running;
    for (const file of this.#retired.splice(0)) this.#options.files.close(file);
  }

  #isDue(): boolean {
    return this.#options.everyWrite || this.#retired.length > 0;
  }

  #schedule(): void {
    this.#cancel = this.#options.clock.after(bounds.journalSyncMs, () => {
      this.#cancel = null;
      if (this.#running === null && this.#synced < this.#written) this.#start();
    });
  }

  #start(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#running = this.#run().then(
      () => this.#ended(),
      (cause: unknown) => this.#die(cause),
    );
  }

  async #run(): Promise<void> {
    const { files, directory } = this.#options;
    const written = this.#written;
    // Read now: the current file may change while a retired one is synced.
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
    else if (this.#isDue() && this.#synced < this.#written) this.#schedule();
  }

  #die(cause: unknown): void {
    this.#running = null;
    this.#fatal = new Error("Failed to sync the journal to disk; written records may be lost.", { cause });
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#fatal);
    this.#options.onFatal(this.#fatal);
  }
}
