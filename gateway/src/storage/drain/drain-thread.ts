import { bounds, LastingFault, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { WorkerThread } from "#system/index.ts";
import { type DatabasePlace, type ThreadPlace, threadPlace } from "../database/database-place.ts";
import type { JournalDrain } from "../journal/journal.ts";
import { Drain, type DrainPlace, type DrainTarget, placeOfFirst } from "./drain.ts";

/** The interval between notices of new journal records, and a longer one under load: from drainBusyEntries settlements per notice. */
export const drainNoticeMs = 100;
export const drainBusyNoticeMs = 500;
export const drainBusyEntries = 32;
/** Delay before a drain that died is restarted. */
const drainRestartMs = 1_000;
/** The drain's thread ends when no record was written for this long and no attempt is open. */
export const drainRestMs = 60_000;

interface DrainThreadOptions {
  /** The journal's directory, and the first segment that this process writes. */
  readonly directory: string;
  readonly firstSegment: number;
  /** The database, to which the thread opens a separate connection. */
  readonly place: DatabasePlace;
  /** Running attempts are also stored in the database; they are deleted with their entries. */
  readonly openAttempts?: boolean;
  /** True if the thread has ended, because no record was written for a while and no attempt is open. */
  readonly onRest?: () => void;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Runs the drain in a thread with its own database connection, so that a slow or locked database never delays a call. The thread starts
 * with the first record and ends when no attempt is open and nothing was written for a while; the next record starts another. If it dies,
 * a new one reads the files from the oldest: storing a record again changes nothing.
 */
export function startDrain(options: DrainThreadOptions): JournalDrain {
  return new DrainThread(options);
}

export class DrainThread implements JournalDrain {
  readonly #options: DrainThreadOptions;
  #thread: WorkerThread<DrainOrder, DrainReport> | null = null;
  /** The position at which a thread starts. */
  #from: DrainPlace;
  #target: DrainTarget;
  #sent: DrainTarget;
  #unbookRest: () => void = () => undefined;
  #unbook: (() => void) | null = null;
  #noticeMs: number = drainNoticeMs;
  #stored = 0;
  #listener: () => void = () => undefined;
  #problem: string | null = null;
  #ended: (() => void) | null = null;
  readonly #stopping: LastingFault;

  constructor(options: DrainThreadOptions) {
    this.#options = options;
    this.#from = placeOfFirst(options.firstSegment);
    this.#target = { segment: options.firstSegment, end: 0, settled: 0 };
    this.#sent = this.#target;
    const { clock, observer } = options;
    const fault = "the ledger drain stopped; restarting it";
    this.#stopping = new LastingFault({
      clock,
      observer,
      level: "error",
      fault,
      over: "the ledger drain works again",
    });
  }

  /** False before the first record and while idle. */
  get hasThread(): boolean {
    return this.#thread !== null;
  }

  get stored(): number {
    return this.#stored;
  }

  onStored(listener: () => void): void {
    this.#listener = listener;
  }

  written(segment: number, end: number, settled: number): void {
    this.#target = { segment, end, settled };
    if (this.#unbook !== null) return;
    this.#unbook = this.#options.clock.after(this.#noticeMs, () => {
      this.#unbook = null;
      // Many entries in one batch cost half of what they cost in several: they share pages of indexes, and rollups.
      const isBusy = this.#target.settled - this.#sent.settled >= drainBusyEntries;
      this.#noticeMs = isBusy ? drainBusyNoticeMs : drainNoticeMs;
      this.hurry();
    });
  }

  hurry(): void {
    if (this.#sent === this.#target) return;
    this.#sent = this.#target;
    this.#order({ type: "written", target: this.#target });
  }

  async finish(timeoutMs: number): Promise<boolean> {
    this.#unbook?.();
    this.#unbookRest();
    if (this.#thread === null && this.#sent === this.#target) return this.#endUnused();
    const inTime = await new Promise<boolean>((resolve) => {
      const unbook = this.#options.clock.after(timeoutMs, () => resolve(false));
      this.#ended = () => {
        unbook();
        resolve(true);
      };
      this.#order({ type: "end", target: this.#target });
    });
    this.#ended ??= () => undefined;
    // The database files may only be removed after the thread's connection is closed.
    this.#thread?.stop();
    if (this.#thread !== null) await within(this.#options.clock, bounds.flushMs, this.#thread.ended, () => undefined);
    return inTime;
  }

  /** Removes the only segment if nothing was written, or everything was moved before the thread ended. */
  #endUnused(): boolean {
    this.#ended = () => undefined;
    const { directory } = this.#options;
    const nothing = { insert: async () => 0, insertChecks: async () => undefined };
    const ignored = () => undefined;
    const wait = async () => undefined;
    new Drain({ directory, from: this.#from, store: nothing, onStored: ignored, onProblem: ignored, wait }).end();
    return true;
  }

  #spawn(): WorkerThread<DrainOrder, DrainReport> {
    const { directory, place, openAttempts = false } = this.#options;
    const program = { entry: new URL("./drain-worker.ts", import.meta.url), name: "ledger drain" };
    const thread = new WorkerThread<DrainOrder, DrainReport>(program, {
      onReport: (report) => this.#hear(report),
      onEnd: (problem) => this.#respawn(problem),
    });
    thread.post({ type: "start", directory, from: this.#from, place: threadPlace(place), openAttempts });
    this.#bookRest();
    return thread;
  }

  /** Ends the thread if nothing was written since the last check, and it has no open attempts or other work. */
  #bookRest(): void {
    this.#unbookRest();
    if (this.#ended !== null) return;
    const before = this.#target;
    this.#unbookRest = this.#options.clock.after(drainRestMs, () => {
      if (this.#thread === null) return;
      if (this.#target === before && this.#sent === before) this.#thread.post({ type: "rest" });
      this.#bookRest();
    });
  }

  /** Records may have been written meanwhile, or the journal closed, without a notice to the thread. */
  #rest(from: DrainPlace): void {
    this.#from = from;
    this.#unbookRest();
    this.#thread?.stopListening();
    this.#thread?.stop();
    this.#thread = null;
    if (this.#ended !== null) this.#order({ type: "end", target: this.#target });
    else if (this.#sent.segment !== from.segment || this.#sent.end !== from.offset) {
      this.#order({ type: "written", target: this.#sent });
    } else this.#options.onRest?.();
  }

  #respawn(problem: string): void {
    if (this.#ended !== null) return;
    this.#stopping.failed({ error: problem });
    this.#options.clock.after(drainRestartMs, () => {
      if (this.#ended !== null) return;
      this.#thread = this.#spawn();
      this.#order({ type: "written", target: this.#target });
    });
  }

  #order(order: DrainOrder): void {
    this.#thread ??= this.#spawn();
    this.#thread.post(order);
  }

  #hear(report: DrainReport): void {
    switch (report.type) {
      case "stored":
        if (report.settled <= this.#stored) return;
        this.#stored = report.settled;
        this.#stopping.succeeded();
        this.#listener();
        return;
      case "problem":
        if (report.problem === this.#problem) return;
        this.#problem = report.problem;
        if (report.problem === null) this.#options.observer.log("info", "the ledger drain continues");
        else this.#options.observer.log("warn", "the ledger drain is blocked; retrying", { problem: report.problem });
        return;
      case "resting":
        this.#rest(report.from);
        return;
      case "ended":
        this.#ended?.();
        return;
    }
  }
}

/** Messages to the drain's thread. `start` comes first, `end` last. `rest` asks it to end if nothing is open, and may get no reply. */
export type DrainOrder =
  | {
      readonly type: "start";
      readonly directory: string;
      readonly from: DrainPlace;
      readonly place: ThreadPlace;
      readonly openAttempts: boolean;
    }
  | { readonly type: "written"; readonly target: DrainTarget }
  | { readonly type: "rest" }
  | { readonly type: "end"; readonly target: DrainTarget };

/** Messages from the drain's thread. */
export type DrainReport =
  | { readonly type: "stored"; readonly settled: number }
  | { readonly type: "problem"; readonly problem: string | null }
  /** The thread ends; another one continues at `from`. */
  | { readonly type: "resting"; readonly from: DrainPlace }
  | { readonly type: "ended" };
