import { statSync } from "node:fs";
import type { Clock, Observer } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { Database } from "../database/database.ts";
import { integrityFaults } from "./integrity.ts";

/** A database up to this size is checked before the port opens; a larger one in a thread, later. */
const databaseStartCheckBytesMax = 32 * 1024 * 1024;
/** The wait between two checks: this long, or this many times what the last one took. A check that takes too long is given up. */
export const databaseCheckMs = 3_600_000;
const databaseCheckRest = 50;
const databaseCheckMsMax = 1_800_000;
/** How often it is checked that the files are still those that were opened. */
const databaseFilesMs = 5_000;

export interface DatabaseWatch {
  /** Why the database is not to be relied on, for `/readyz`; null while nothing is known to be wrong. */
  readonly problem: string | null;
  /** What is amiss though calls can be taken; `/readyz` says it behind `ready, but`. */
  readonly remark: string | null;
  close(): Promise<void>;
}

export interface FileWatchOptions {
  /** Open, and staying open longer than the watch: its files must not go away meanwhile. */
  readonly database: Database;
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Looks after a database file in use: whether its pages are sound, now and then and beside the event loop, and whether its
 * files are still the ones that were opened. A small one has been checked when this resolves.
 */
export async function watchDatabaseFile(options: FileWatchOptions): Promise<DatabaseWatch> {
  const watch = new Watch(options);
  await watch.begin();
  return watch;
}

class Watch implements DatabaseWatch {
  readonly remark = null;
  readonly #options: FileWatchOptions;
  readonly #files: ReadonlyMap<string, number | undefined>;
  #damage: string | null = null;
  #lost: string | null = null;
  readonly #thread: OrderThread<object, readonly string[]>;
  #closed = false;
  #unbookCheck = (): void => undefined;
  #unbookLook = (): void => undefined;

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.#thread = new OrderThread({
      entry: new URL("./check-worker.ts", import.meta.url),
      name: "database check",
      data: options.databasePath,
      onDeath: () => undefined,
    });
    const paths = [options.databasePath, `${options.databasePath}-wal`];
    this.#files = new Map(paths.map((path) => [path, inodeOf(path)]));
  }

  get problem(): string | null {
    return this.#lost ?? this.#damage;
  }

  async begin(): Promise<void> {
    const { database, databasePath } = this.#options;
    this.#bookLook();
    const { size } = statSync(databasePath);
    if (size > databaseStartCheckBytesMax) return this.#check();
    this.#found(await integrityFaults(database.kysely, "quick"));
    this.#bookCheck(databaseCheckMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unbookCheck();
    this.#unbookLook();
    await this.#thread.end();
  }

  #bookCheck(ms: number): void {
    if (!this.#closed) this.#unbookCheck = this.#options.clock.after(ms, () => this.#check());
  }

  #check(): void {
    const { clock, observer } = this.#options;
    const startMs = clock.monotonic();
    this.#unbookCheck = clock.after(databaseCheckMsMax, () => this.#thread.stop());
    void this.#thread.run({}).then(async (answer) => {
      this.#unbookCheck();
      if (this.#closed) return;
      if ("reply" in answer) this.#found(answer.reply);
      else observer.log("warn", "The database could not be checked; it is tried again.", { problem: answer.failed });
      this.#bookCheck(Math.max(databaseCheckMs, (clock.monotonic() - startMs) * databaseCheckRest));
      // It is not needed for an hour.
      await this.#thread.end();
    });
  }

  #found(faults: readonly string[]): void {
    const known = this.#damage;
    this.#damage = faults.length === 0 ? null : "the database is damaged; restore a backup";
    if (this.#damage !== null && known === null) {
      this.#options.observer.log("error", "The database is damaged: stop the gateway and restore a backup.", {
        faults,
      });
    }
  }

  #bookLook(): void {
    if (!this.#closed) this.#unbookLook = this.#options.clock.after(databaseFilesMs, () => this.#look());
  }

  /** By `stat` alone: opening and closing one of these files would drop SQLite's locks on it. */
  #look(): void {
    for (const [path, inode] of this.#files) {
      if (inode === undefined || inodeOf(path) === inode || this.#lost !== null) continue;
      this.#lost = "the database's files were removed or replaced while the gateway was running";
      this.#options.observer.log(
        "error",
        "A file of the database was removed or replaced under the gateway: what is written from now on may be lost. Stop it, and see what became of the file.",
        { path },
      );
    }
    this.#bookLook();
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
