import { statSync } from "node:fs";
import type { Clock, Observer } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { Database } from "../database/database.ts";
import { integrityFaults } from "./integrity.ts";

/** Databases up to this size are checked before the port opens, larger ones in a thread. */
const databaseStartCheckBytesMax = 32 * 1024 * 1024;
/** Between checks: this long, or databaseCheckRest times the duration of the last one. A check ends after databaseCheckMsMax. */
export const databaseCheckMs = 3_600_000;
const databaseCheckRest = 50;
const databaseCheckMsMax = 1_800_000;
/** The interval at which the files are compared with the opened ones. */
const databaseFilesMs = 5_000;

export interface DatabaseWatch {
  /** Why the database is unusable, for `/readyz`; null: no problem was found. */
  readonly problem: string | null;
  /** A problem that does not prevent calls; `/readyz` shows it after `ready, but`. */
  readonly remark: string | null;
  close(): Promise<void>;
}

export interface FileWatchOptions {
  /** Must stay open longer than the watch. */
  readonly database: Database;
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Watches a database file: checks its pages regularly in a thread, and that its files were not replaced. Small files are checked before
 * this resolves.
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
  #replaced: string | null = null;
  readonly #thread: OrderThread<object, readonly string[]>;
  #closed = false;
  #cancelCheck = (): void => undefined;
  #cancelFileCheck = (): void => undefined;

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
    return this.#replaced ?? this.#damage;
  }

  async begin(): Promise<void> {
    const { database, databasePath } = this.#options;
    this.#scheduleFileCheck();
    const { size } = statSync(databasePath);
    if (size > databaseStartCheckBytesMax) return this.#check();
    this.#onFaults(await integrityFaults(database.kysely, "quick"));
    this.#scheduleCheck(databaseCheckMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelCheck();
    this.#cancelFileCheck();
    await this.#thread.end();
  }

  #scheduleCheck(ms: number): void {
    if (!this.#closed) this.#cancelCheck = this.#options.clock.after(ms, () => this.#check());
  }

  #check(): void {
    const { clock, observer } = this.#options;
    const startMs = clock.monotonic();
    this.#cancelCheck = clock.after(databaseCheckMsMax, () => this.#thread.stop());
    void this.#thread.run({}).then(async (answer) => {
      this.#cancelCheck();
      if (this.#closed) return;
      if ("reply" in answer) this.#onFaults(answer.reply);
      else observer.log("warn", "database check failed; retrying later", { problem: answer.failed });
      this.#scheduleCheck(Math.max(databaseCheckMs, (clock.monotonic() - startMs) * databaseCheckRest));
      // The next check is an hour away.
      await this.#thread.end();
    });
  }

  #onFaults(faults: readonly string[]): void {
    const damage = this.#damage;
    this.#damage = faults.length === 0 ? null : "the database is damaged; restore a backup";
    if (this.#damage !== null && damage === null) {
      this.#options.observer.log("error", "the database is damaged; stop the gateway and restore a backup", {
        faults,
      });
    }
  }

  #scheduleFileCheck(): void {
    if (!this.#closed) this.#cancelFileCheck = this.#options.clock.after(databaseFilesMs, () => this.#checkFiles());
  }

  /** With `stat` only: opening and closing a file would drop SQLite's locks. */
  #checkFiles(): void {
    for (const [path, inode] of this.#files) {
      if (inode === undefined || inodeOf(path) === inode || this.#replaced !== null) continue;
      this.#replaced = "the database's files were removed or replaced while the gateway was running";
      this.#options.observer.log(
        "error",
        "a database file was removed or replaced while the gateway is running; new data may be lost; stop the gateway and check the file",
        { path },
      );
    }
    this.#scheduleFileCheck();
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
