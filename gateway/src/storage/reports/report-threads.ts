import { readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bounds, Failure, type FailureCode, within } from "#core/index.ts";
import type { Clock, Observer, ReportStore } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { databaseSize } from "../database/database-copy.ts";
import type { AskReport, ReportAnswer, ReportKind, ReportSource } from "./report-answers.ts";
import { reportTimeout, shuttingDown, tooManyReports, unreadableReport } from "./report-context.ts";

const reportThreads = 2;
const backupMs = 1_800_000;
/** Additional time for a question whose thread has to start first; on a busy machine that takes seconds. */
export const reportStartMs = 20_000;
/** A late thread has this long to notice it before it is terminated. */
export const reportGraceMs = 1_000;
export const reportIdleMs = 60_000;
/** The same for a thread that caches sums, which take seconds to read again. */
export const reportIdleCachedMs = 900_000;

export interface ReportThreadOptions {
  /** A database that is migrated and open. */
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/** Long sums, which may take seconds. One thread is always left for lists and searches. */
const longKinds: ReadonlySet<ReportKind> = new Set([
  "sortedRequests",
  "requestsWithText",
  "requestTotals",
  "usage",
  "sessions",
  "sessionAgents",
  "costs",
  "personDailySpend",
  "keyUsage",
  "personSpend",
  "modelUsage",
  "deploymentUse",
  "dailySpend",
  "entryCount",
  "listCount",
]);

interface WaitingQuestion {
  readonly kind: ReportKind;
  readonly start: (thread: ReportThread) => void;
  readonly refuse: (failure: Failure) => void;
}

/** Answers reports on an SQLite database in a few threads, first come, first served. */
export class ReportThreads implements ReportSource {
  readonly #options: ReportThreadOptions;
  readonly #threads: readonly ReportThread[];
  readonly #waiting: WaitingQuestion[] = [];
  /** Copying a large database takes long, so it has a separate thread. */
  readonly #copier: ReportThread;
  #backups = 0;
  #closed = false;

  constructor(options: ReportThreadOptions) {
    removeLeftovers(options.databasePath);
    this.#options = options;
    const thread = () => new ReportThread(options, () => this.#next());
    this.#threads = Array.from({ length: reportThreads }, thread);
    this.#copier = thread();
  }

  readonly ask: AskReport = async (kind, args) => {
    if (this.#closed) throw shuttingDown();
    if (this.#waiting.length >= bounds.reportsWaitingMax) throw tooManyReports();
    const { clock } = this.#options;
    const endMs = clock.monotonic() + bounds.reportMs;
    const { promise, resolve, reject } = Promise.withResolvers<ReportAnswer<typeof kind>>();
    const question: WaitingQuestion = {
      kind,
      start: (thread) => {
        stopTimer();
        void thread.ask(kind, args, Math.max(0, endMs - clock.monotonic())).then(resolve, reject);
      },
      refuse: (failure) => {
        stopTimer();
        reject(failure);
      },
    };
    const stopTimer = clock.after(bounds.reportMs, () => {
      this.#waiting.splice(this.#waiting.indexOf(question), 1);
      reject(reportTimeout());
    });
    this.#waiting.push(question);
    this.#next();
    return await promise;
  };

  async sizeBytes(): Promise<number> {
    return databaseSize(this.#options.databasePath);
  }

  /** Copies the database to a file next to it that only its owner can read. The file exists until `done` is called. */
  async backup(): ReturnType<ReportStore["backup"]> {
    if (this.#closed) throw shuttingDown();
    if (this.#copier.kind !== null) throw new Failure("conflict", "A backup is under way. Wait until it has finished.");
    const path = `${this.#options.databasePath}${copyMark}${++this.#backups}`;
    const done = async (): Promise<void> => {
      for (const file of [path, `${path}.part`]) await rm(file, { force: true });
    };
    try {
      const size = await this.#copier.ask("copy", [path], backupMs);
      return { bytes: Bun.file(path).stream(), size, done };
    } catch (thrown) {
      // A terminated thread does not remove its file.
      await done();
      throw thrown;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const question of this.#waiting.splice(0)) question.refuse(shuttingDown());
    await Promise.all([...this.#threads, this.#copier].map((thread) => thread.close()));
  }

  /** The budgets of a call are two questions. A second thread takes much longer to start than the first one to answer both. */
  #isOneCall(): boolean {
    const isSpending = ({ kind }: Pick<ReportThread, "kind">): boolean => kind === "spending";
    return this.#waiting.length <= 2 && this.#waiting.every(isSpending) && this.#threads.some(isSpending);
  }

  #next(): void {
    for (const thread of this.#threads) {
      if (this.#closed || thread.kind !== null || (!thread.isRunning && this.#isOneCall())) continue;
      const long = this.#threads.filter(({ kind }) => kind !== null && longKinds.has(kind)).length;
      const mayStartLong = long < this.#threads.length - 1;
      const index = this.#waiting.findIndex(({ kind }) => mayStartLong || !longKinds.has(kind));
      if (index === -1) return;
      for (const question of this.#waiting.splice(index, 1)) question.start(thread);
    }
  }
}

/** One question for a thread. */
export interface ReportOrder {
  readonly kind: ReportKind;
  readonly args: readonly unknown[];
  readonly ms: number;
}

/** Errors other than Failures send only `errorKind`: their message may contain a statement. */
export type ReportReply =
  /** JSON blocks the event loop for a quarter of the time that a structured clone takes. */
  | { readonly type: "answer"; readonly json: string; readonly isCaching: boolean }
  | { readonly type: "refusal"; readonly code: FailureCode; readonly message: string; readonly param: string | null }
  | { readonly type: "broken"; readonly detail: string };

/**
 * A thread that answers one question at a time. It starts with its first question and ends when idle. A late
 * one is terminated once its current statement returns; it is busy until then.
 */
class ReportThread {
  readonly #options: ReportThreadOptions;
  readonly #onFree: () => void;
  readonly #thread: OrderThread<ReportOrder, ReportReply>;
  /** The question it works on; null: it is free. */
  kind: ReportKind | null = null;
  #isCaching = false;
  #stopIdleTimer: () => void = () => undefined;
  #closed = false;

  constructor(options: ReportThreadOptions, onFree: () => void) {
    this.#options = options;
    this.#onFree = onFree;
    this.#thread = new OrderThread({
      entry: new URL("./report-worker.ts", import.meta.url),
      name: "reports",
      data: options.databasePath,
      onDeath: (problem) => options.observer.log("error", "report thread died", { error: problem }),
    });
  }

  get isRunning(): boolean {
    return this.#thread.isRunning;
  }

  /** Settles after `ms`, though the thread may stay busy for longer. Starting the thread does not count. */
  async ask<Kind extends ReportKind>(kind: Kind, args: readonly unknown[], ms: number): Promise<ReportAnswer<Kind>> {
    const { clock, observer } = this.#options;
    this.kind = kind;
    this.#stopIdleTimer();
    const { promise, resolve } = Promise.withResolvers<ReportReply>();
    const msMax = ms + (this.#thread.isRunning ? 0 : reportStartMs);
    const stopLateTimer = clock.after(msMax, () => resolve(refusal(reportTimeout())));
    const stopGraceTimer = clock.after(msMax + reportGraceMs, () => {
      observer.log("warn", "report timed out; terminating its thread", { report: kind });
      this.#thread.stop();
    });
    void this.#thread.run({ kind, args, ms }).then((answer) => {
      this.kind = null;
      stopLateTimer();
      stopGraceTimer();
      if ("reply" in answer) this.#isCaching = answer.reply.type === "answer" && answer.reply.isCaching;
      const idleMs = this.#isCaching ? reportIdleCachedMs : reportIdleMs;
      if (!this.#closed) this.#stopIdleTimer = clock.after(idleMs, () => void this.#thread.end());
      if ("reply" in answer) resolve(answer.reply);
      else resolve(this.#closed ? refusal(shuttingDown()) : { type: "broken", detail: answer.failed });
      this.#onFree();
    });
    const reply = await promise;
    if (reply.type === "answer") return JSON.parse(reply.json);
    if (reply.type === "refusal") throw new Failure(reply.code, reply.message, { param: reply.param });
    throw unreadableReport(observer, kind, reply.detail);
  }

  /** Refuses its question. Resolves when the thread has ended, at the latest after the grace period. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopIdleTimer();
    await within(this.#options.clock, reportGraceMs, this.#thread.end(), () => undefined);
  }
}

function refusal({ code, message, param }: Failure): ReportReply {
  return { type: "refusal", code, message, param };
}

const copyMark = ".backup-";

/** Copies left by a killed process. */
function removeLeftovers(databasePath: string): void {
  const directory = dirname(databasePath);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`${basename(databasePath)}${copyMark}`)) rmSync(join(directory, name), { force: true });
  }
}
