import { readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bounds, Failure, type FailureCode, within } from "#core/index.ts";
import type { Clock, Observer, ReportStore } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { databaseSize } from "../database/database-copy.ts";
import type { ReportAnswer, ReportAsk, ReportKind } from "./report-answers.ts";
import { crowded, draining, late, unreadable } from "./report-context.ts";

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
      sizeBytes: databaseSize(options.databasePath),
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
    for (const thread of this.#threads) {
      if (this.#closed || !thread.free) continue;
      const place = this.#waiting.findIndex(({ kind }) => this.#mayBegin(kind));
      const [waiting] = place === -1 ? [] : this.#waiting.splice(place, 1);
      if (waiting === undefined) return;
      void waiting.begin(thread);
    }
  }

  #mayBegin(kind: ReportKind): boolean {
    if (!longKinds.has(kind)) return true;
    const long = this.#threads.filter(({ at }) => at !== null && longKinds.has(at)).length;
    return long < this.#threads.length - 1;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw draining();
  }
}

/** To a thread, one question at a time. */
export interface ReportOrder {
  readonly kind: ReportKind;
  readonly ask: readonly unknown[];
  readonly ms: number;
}

/** From a thread. What is not a Failure is told by its kind only: what a database says may hold a statement. */
export type ReportReply =
  /** JSON: read from text it holds the event loop for a quarter of the time that a copied object does. */
  | { readonly type: "answer"; readonly json: string }
  | { readonly type: "refusal"; readonly code: FailureCode; readonly message: string; readonly param: string | null }
  | { readonly type: "broken"; readonly detail: string };

/** What a thread that has to start first is given for that; on a busy machine it takes seconds. */
export const reportStartMs = 20_000;
/** A late question has this long to notice it before its thread is ended. An idle thread ends by itself. */
export const reportGraceMs = 1_000;
export const reportIdleMs = 60_000;

interface ReportThreadOptions extends ReportStoreOptions {
  /** Something can be asked again. */
  readonly onFree: () => void;
}

/**
 * One thread that answers one question at a time. It begins with its first question and ends when it has not been asked
 * for `reportIdleMs`. One that does not notice its lateness is ended from outside, as soon as the statement that it
 * is in lets go of it; until then it is not free.
 */
class ReportThread {
  readonly #options: ReportThreadOptions;
  readonly #thread: OrderThread<ReportOrder, ReportReply>;
  /** What it is asked; null: it is free. */
  at: ReportKind | null = null;
  #unbookEnd: () => void = () => undefined;
  #closed = false;

  constructor(options: ReportThreadOptions) {
    this.#options = options;
    this.#thread = new OrderThread({
      entry: new URL("./report-worker.ts", import.meta.url),
      name: "reports",
      data: options.databasePath,
      onDeath: (problem) => options.observer.log("error", "A thread of reports has died.", { error: problem }),
    });
  }

  get free(): boolean {
    return this.#thread.free;
  }

  /**
   * Settles after `ms` at the latest, though the thread may stay busy for longer. How long a thread takes to begin says
   * nothing about the question, and does not count.
   */
  async ask<Kind extends ReportKind>(kind: Kind, ask: ReportAsk<Kind>, ms: number): Promise<ReportAnswer<Kind>> {
    const { clock, observer } = this.#options;
    this.at = kind;
    this.#unbookEnd();
    const { promise, resolve } = Promise.withResolvers<ReportReply>();
    const msMax = ms + (this.#thread.begun ? 0 : reportStartMs);
    const unbookLate = clock.after(msMax, () => resolve(refusal(late())));
    const unbookStop = clock.after(msMax + reportGraceMs, () => {
      observer.log("warn", "A report is late and its thread is ended.", { report: kind });
      this.#thread.stop();
    });
    void this.#thread.run({ kind, ask, ms }).then((answer) => {
      this.at = null;
      unbookLate();
      unbookStop();
      if (!this.#closed) this.#unbookEnd = clock.after(reportIdleMs, () => void this.#thread.end());
      if ("reply" in answer) resolve(answer.reply);
      else resolve(this.#closed ? refusal(draining()) : { type: "broken", detail: answer.failed });
      this.#options.onFree();
    });
    const reply = await promise;
    if (reply.type === "answer") {
      const answer: ReportAnswer<Kind> = JSON.parse(reply.json);
      return answer;
    }
    if (reply.type === "refusal") throw new Failure(reply.code, reply.message, { param: reply.param });
    throw unreadable(observer, kind, reply.detail);
  }

  /** What it was asked is refused. Resolves when the thread is gone, or when a long statement does not let go of it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unbookEnd();
    await within(this.#options.clock, reportGraceMs, this.#thread.end(), () => undefined);
  }
}

function refusal({ code, message, param }: Failure): ReportReply {
  return { type: "refusal", code, message, param };
}

type Backup = Awaited<ReturnType<ReportStore["backup"]>>;

/** A copy of the database beside it, readable by its owner only, for as long as somebody reads it. */
async function backupOf(
  databasePath: string,
  number: number,
  copy: (path: string) => Promise<number>,
): Promise<Backup> {
  const path = `${databasePath}${copyMark}${number}`;
  const remove = async (): Promise<void> => {
    for (const file of [path, `${path}.part`]) await rm(file, { force: true });
  };
  try {
    const size = await copy(path);
    return { bytes: Bun.file(path).stream(), size, done: remove };
  } catch (thrown) {
    // A thread that was ended or is late removes nothing itself.
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
