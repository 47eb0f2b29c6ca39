import { closeSync, openSync, readdirSync, rmSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, Observer, ReportStore } from "#ports/index.ts";
import type { ReportAnswer, ReportAsk, ReportKind } from "./report-answers.ts";
import { crowded, draining, late } from "./report-context.ts";
import { ReportThread } from "./report-thread.ts";

const reportThreads = 2;
/** A copy of the whole database. */
const backupMs = 1_800_000;

interface ReportStoreOptions {
  /** A database that is migrated and open. */
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/** Reports on an SQLite database, in threads that end when nobody asks. */
export function createReportStore(options: ReportStoreOptions): ReportStore {
  removeLeftovers(options.databasePath);
  const pool = new ReportPool(options);
  const ask =
    <Kind extends ReportKind>(kind: Kind) =>
    (...asked: ReportAsk<Kind>): Promise<ReportAnswer<Kind>> =>
      pool.ask(kind, asked);
  return {
    ...reportQuestions(ask),
    facts: async () => ({
      entries: await pool.ask("entryCount", []),
      sizeBytes: await databaseSize(options.databasePath),
    }),
    backup: () => pool.backup(),
    close: () => pool.close(),
  };
}

/** The questions of the port, each asked by its name. */
export function reportQuestions(
  ask: <Kind extends Exclude<ReportKind, "copy">>(
    kind: Kind,
  ) => (...asked: ReportAsk<Kind>) => Promise<ReportAnswer<Kind>>,
): Omit<ReportStore, "facts" | "backup" | "close"> {
  return {
    requests: ask("requests"),
    attempts: ask("attempts"),
    usage: ask("usage"),
    peopleUsage: ask("peopleUsage"),
    sessions: ask("sessions"),
    costs: ask("costs"),
    keys: ask("keys"),
    audit: ask("audit"),
    modelUsage: ask("modelUsage"),
    deploymentUse: ask("deploymentUse"),
    dailySpend: ask("dailySpend"),
    personDailySpend: ask("personDailySpend"),
    spending: ask("spending"),
    keyUsage: ask("keyUsage"),
  };
}

/** Sums over a long time keep a thread for seconds; they never have all of them, so that lists and searches go on. */
const longKinds: ReadonlySet<ReportKind> = new Set([
  "usage",
  "peopleUsage",
  "sessions",
  "costs",
  "personDailySpend",
  "keyUsage",
  "modelUsage",
  "deploymentUse",
  "dailySpend",
  "entryCount",
]);

interface Waiting {
  readonly kind: ReportKind;
  readonly begin: (thread: ReportThread) => Promise<void>;
  readonly refuse: (failure: Failure) => void;
}

/** Gives each question a thread, in the order they came. */
class ReportPool {
  readonly #options: ReportStoreOptions;
  readonly #threads: readonly ReportThread[];
  readonly #waiting: Waiting[] = [];
  /** What each thread is at. */
  readonly #at = new Map<ReportThread, ReportKind>();
  readonly #copier: ReportThread;
  #backups = 0;
  #closed = false;

  constructor(options: ReportStoreOptions) {
    this.#options = options;
    const thread = () => new ReportThread({ ...options, onFree: () => this.#next() });
    this.#threads = Array.from({ length: reportThreads }, thread);
    this.#copier = thread();
  }

  async ask<Kind extends ReportKind>(kind: Kind, asked: ReportAsk<Kind>): Promise<ReportAnswer<Kind>> {
    this.#refuseWhenClosed();
    if (this.#waiting.length >= bounds.reportsWaitingMax) throw crowded();
    const { clock } = this.#options;
    const endsAt = clock.monotonic() + bounds.reportMs;
    const { promise, resolve, reject } = Promise.withResolvers<ReportAnswer<Kind>>();
    const waiting: Waiting = {
      kind,
      begin: async (thread) => {
        unbook();
        await thread.ask(kind, asked, Math.max(0, endsAt - clock.monotonic())).then(resolve, reject);
      },
      refuse: (failure) => {
        unbook();
        reject(failure);
      },
    };
    const unbook = clock.after(bounds.reportMs, () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      reject(late());
    });
    this.#waiting.push(waiting);
    this.#next();
    return await promise;
  }

  /** Beside the questions, in a thread of its own: it takes as long as the database is large. */
  async backup(): Promise<Awaited<ReturnType<ReportStore["backup"]>>> {
    this.#refuseWhenClosed();
    if (!this.#copier.free) throw new Failure("conflict", "A backup is being made already. Wait for its end.");
    const copy = (path: string) => this.#copier.ask("copy", [path], backupMs);
    return await backupOf(this.#options.databasePath, ++this.#backups, copy);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(draining());
    await Promise.all([...this.#threads, this.#copier].map((thread) => thread.close()));
  }

  #next(): void {
    for (const thread of this.#threads) if (thread.free) this.#at.delete(thread);
    for (const thread of this.#threads) {
      if (this.#closed || !thread.free) continue;
      const place = this.#waiting.findIndex(({ kind }) => this.#mayBegin(kind));
      const [waiting] = place === -1 ? [] : this.#waiting.splice(place, 1);
      if (waiting === undefined) return;
      this.#at.set(thread, waiting.kind);
      void waiting.begin(thread);
    }
  }

  #mayBegin(kind: ReportKind): boolean {
    if (!longKinds.has(kind)) return true;
    const long = [...this.#at.values()].filter((at) => longKinds.has(at)).length;
    return long < this.#threads.length - 1;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw draining();
  }
}

type Backup = Awaited<ReturnType<ReportStore["backup"]>>;

/** A copy of the database beside it, readable by its owner only, for as long as somebody reads it. */
async function backupOf(
  databasePath: string,
  number: number,
  copy: (path: string) => Promise<unknown>,
): Promise<Backup> {
  const path = `${databasePath}${copyMark}${number}`;
  const remove = () => rm(path, { force: true });
  // SQLite writes into a file that is there and empty, and leaves its mode as it is.
  closeSync(openSync(path, "wx", 0o600));
  try {
    await copy(path);
    const { size } = await stat(path);
    return { bytes: Bun.file(path).stream(), size, done: remove };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

const copyMark = ".backup-";

/** Copies that a process left which was killed meanwhile. */
function removeLeftovers(databasePath: string): void {
  const directory = dirname(databasePath);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`${basename(databasePath)}${copyMark}`)) rmSync(join(directory, name), { force: true });
  }
}

/** With what has been written lately and is not in the main file yet. */
async function databaseSize(databasePath: string): Promise<number | null> {
  const sizes = await Promise.all(
    [databasePath, `${databasePath}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
