import { bounds, within } from "#core/index.ts";
import type { Clock, LogLevel } from "#ports/index.ts";
import { Listening } from "./listening.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { SupervisedWorker } from "./supervised-worker.ts";
import type { StartWorker, WorkerEnd } from "./worker-process.ts";

/** A worker that has taken calls for this long is steady: earlier ends are forgotten. */
export const workerSteadyMs = 10_000;

interface SupervisorOptions {
  readonly count: number;
  readonly start: StartWorker;
  readonly fold: FoldReports;
  readonly clock: Clock;
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Shows the banner, once. */
  readonly print: (text: string) => void;
}

/**
 * Keeps `count` workers running that share the ports. The first one starts alone: what it makes is there for the others, and
 * what keeps it from starting is told once. From then on one that ends is replaced; `stop` ends them all, `roll` replaces them
 * one by one.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #workers = new Set<SupervisedWorker>();
  readonly #listening: Listening;
  readonly #totals: WorkerTotals;
  /** Ends in a row, until a worker has taken calls for workerSteadyMs. */
  #endsInARow = 0;
  readonly #rests = new Map<number, () => void>();
  readonly #over = Promise.withResolvers<void>();
  readonly #startedAt: number;
  #begun = false;
  #stopping = false;
  #stoppedMs: number | null = null;
  #lost = 0;
  #status = 0;
  #rolling = false;
  #rollAgain = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { clock, log, fold } = options;
    this.#startedAt = clock.now();
    this.#totals = new WorkerTotals(clock, fold);
    this.#listening = new Listening({
      clock,
      unsteered: () =>
        log(
          "warn",
          "New connections cannot be kept from a worker that leaves; it may reset a few when it is replaced.",
        ),
    });
  }

  /** Resolves with the exit status when all workers have ended. */
  async run(): Promise<number> {
    const { count, print, log } = this.#options;
    const first = this.#start(1);
    const told = await first.started;
    if (told !== null) {
      this.#begun = true;
      print(told);
      for (let slot = 2; slot <= count && !this.#stopping; slot++) this.#start(slot);
      log("info", "The workers are started.", { workers: count });
      if (this.#rollAgain) this.roll();
    }
    await this.#over.promise;
    return this.#status;
  }

  /**
   * A request to end. What comes within bounds.sameSignalMs of the first is that one again; a later one is somebody who is
   * tired of waiting.
   */
  stop(signal: NodeJS.Signals): void {
    const nowMs = this.#options.clock.monotonic();
    const again = this.#stoppedMs !== null;
    this.#stoppedMs ??= nowMs;
    if (again && nowMs - this.#stoppedMs <= bounds.sameSignalMs) return;
    this.#stopping = true;
    for (const cancel of this.#rests.values()) cancel();
    this.#rests.clear();
    for (const worker of this.#workers) {
      if (again) worker.hurry();
      else worker.end(signal);
    }
    this.#endIfOver();
  }

  /** SIGHUP: whoever has to read the config file reads it again. */
  reload(): void {
    for (const worker of this.#workers) if (worker.answers) worker.signal("SIGHUP");
  }

  /** Replaces the workers one by one. Each is followed by one that takes calls already before it leaves. */
  roll(): void {
    if (this.#stopping) return;
    if (this.#rolling || !this.#begun) {
      this.#rollAgain = true;
      return;
    }
    this.#rolling = true;
    this.#rollAgain = false;
    void this.#rollAll().finally(() => {
      this.#rolling = false;
      if (this.#rollAgain) this.roll();
    });
  }

  async #rollAll(): Promise<void> {
    const { log } = this.#options;
    const olds = [...this.#workers];
    log("info", "The workers are replaced one by one.", { workers: olds.length });
    for (const old of olds) {
      if (this.#stopping) return;
      if (!this.#workers.has(old)) continue;
      const next = this.#start(old.slot);
      if ((await next.started) === null) {
        if (this.#stopping) return;
        log("error", "A new worker could not start; those that are left go on, and no more are replaced.", {
          worker: next.slot,
        });
        return;
      }
      if (this.#stopping) return;
      old.goes();
      await this.#listening.steer();
      if (this.#stopping) return;
      old.leave();
      await old.ended;
    }
    log("info", "The workers have been replaced.", { workers: olds.length });
  }

  #start(slot: number): SupervisedWorker {
    const { clock, start } = this.#options;
    const worker = new SupervisedWorker({
      slot,
      clock,
      start,
      hear: (from, message) => this.#heard(from, message),
    });
    this.#workers.add(worker);
    void worker.ended.then((end) => this.#ended(worker, end));
    return worker;
  }

  #heard(worker: SupervisedWorker, message: FromWorker): void {
    if (message.kind === "prepared") this.#listening.prepared(worker);
    else if (message.kind === "listening") this.#listening.listening(worker, message.ports);
    else if (message.kind === "steered") this.#listening.steeredBy(message.turn, message.done);
    else if (message.kind === "report") this.#totals.heard(worker, message.turn, message.report);
    else if (message.kind === "ask") void this.#answer(worker, message.turn);
    else if (message.kind === "ready") this.#watch(worker);
  }

  /** A worker that stays shows that starting makes sense again. */
  #watch(worker: SupervisedWorker): void {
    const cancel = this.#options.clock.after(workerSteadyMs, () => {
      this.#endsInARow = 0;
    });
    void worker.ended.then(cancel);
  }

  async #answer(worker: SupervisedWorker, turn: number): Promise<void> {
    const reporters = [...this.#workers].filter(({ answers }) => answers);
    const parts = await this.#totals.gather(reporters);
    const ready = [...this.#workers].filter((one) => one.ready).length;
    const { count } = this.#options;
    worker.send({
      kind: "totals",
      turn,
      totals: { parts, workers: { wanted: count, ready, lost: this.#lost, startedAt: this.#startedAt } },
    });
  }

  #ended(worker: SupervisedWorker, end: WorkerEnd): void {
    this.#workers.delete(worker);
    this.#listening.ended(worker);
    this.#totals.ended(worker);
    if (this.#stopping) this.#status = Math.max(this.#status, statusOf(end));
    if (this.#stopping || worker.leaving) {
      this.#endIfOver();
      return;
    }
    if (!this.#begun) {
      this.#status = statusOf(end);
      if (end.code === null) this.#tell("error", "The first worker ended before it took calls.", worker, end);
      this.#stopping = true;
      this.#endIfOver();
      return;
    }
    // A signal to the whole group may reach the worker first; then the supervisor's own is on its way.
    if (end.code === 0) {
      this.#options.clock.after(bounds.sameSignalMs, () => {
        if (!this.#stopping) this.#replace(worker, end);
      });
      return;
    }
    this.#replace(worker, end);
  }

  /** Nobody told it to end. */
  #replace(worker: SupervisedWorker, end: WorkerEnd): void {
    this.#lost++;
    // The one that it was to replace is still there.
    if ([...this.#workers].some((other) => other.slot === worker.slot && !other.leaving)) {
      this.#tell("warn", "A worker ended unexpectedly; the other one of its place goes on.", worker, end);
      return;
    }
    this.#endsInARow++;
    const restMs = Math.min(workerRestMs * 2 ** (this.#endsInARow - 1), workerRestMsMax);
    if (this.#endsInARow >= workerEndsMax && ![...this.#workers].some(({ ready }) => ready)) {
      this.#tell("error", "Workers end again and again, and none takes calls: the gateway gives up.", worker, end);
      this.#status = 1;
      this.stop("SIGTERM");
      return;
    }
    this.#tell("error", "A worker ended unexpectedly; another one is started.", worker, { ...end, inMs: restMs });
    this.#rests.get(worker.slot)?.();
    this.#rests.set(
      worker.slot,
      this.#options.clock.after(restMs, () => {
        this.#rests.delete(worker.slot);
        this.#start(worker.slot);
      }),
    );
  }

  #tell(level: LogLevel, message: string, worker: SupervisedWorker, more: object): void {
    const { slot, pid, overdue } = worker;
    this.#options.log(level, message, { worker: slot, pid, ...more, ...(overdue ? { overdue } : {}) });
  }

  #endIfOver(): void {
    if (this.#stopping && this.#workers.size === 0) this.#over.resolve();
  }
}

/** One that was told to end before it could listen for that ends of the signal itself. */
function statusOf({ code, signal }: WorkerEnd): number {
  return code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1);
}

/** The wait before a worker that ended is started again doubles up to the maximum. */
export const workerRestMs = 200;
export const workerRestMsMax = 30_000;
/** After this many ends in a row, with no worker that takes calls, the gateway gives up. */
export const workerEndsMax = 8;

/** Who can be asked for its numbers. */
interface Reporter {
  send(message: ToWorker): void;
}

/** Makes one report of several, of what only grows: what is kept of workers that ended. */
type FoldReports = (reports: readonly unknown[]) => unknown;

/**
 * The numbers of all workers. What a worker counted stays when it ends: a sum that falls would be taken for a start from zero,
 * and all that the others counted for new. One that does not answer in time counts with its last numbers.
 */
class WorkerTotals {
  readonly #clock: Clock;
  readonly #fold: FoldReports;
  readonly #last = new Map<Reporter, unknown>();
  #past: unknown = null;
  #turn = 0;
  #gathering: { readonly turn: number; readonly missing: Set<Reporter>; readonly done: () => void } | null = null;
  #gathered: Promise<void> | null = null;

  constructor(clock: Clock, fold: FoldReports) {
    this.#clock = clock;
    this.#fold = fold;
  }

  /** Resolves within bounds.workerAnswerMs. */
  async gather(reporters: readonly Reporter[]): Promise<readonly unknown[]> {
    this.#gathered ??= this.#askAll(reporters).finally(() => {
      this.#gathered = null;
    });
    await this.#gathered;
    return this.#past === null ? [...this.#last.values()] : [this.#past, ...this.#last.values()];
  }

  heard(reporter: Reporter, turn: number, report: unknown): void {
    this.#last.set(reporter, report);
    if (turn === this.#gathering?.turn) this.#answered(reporter);
  }

  ended(reporter: Reporter): void {
    const report = this.#last.get(reporter);
    this.#last.delete(reporter);
    if (report !== undefined) this.#past = this.#fold(this.#past === null ? [report] : [this.#past, report]);
    this.#answered(reporter);
  }

  async #askAll(reporters: readonly Reporter[]): Promise<void> {
    if (reporters.length === 0) return;
    const turn = ++this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gathering = { turn, missing: new Set(reporters), done: resolve };
    for (const reporter of reporters) reporter.send({ kind: "report", turn });
    await within(this.#clock, bounds.workerAnswerMs, promise, () => undefined);
    this.#gathering = null;
  }

  #answered(reporter: Reporter): void {
    const gathering = this.#gathering;
    if (gathering?.missing.delete(reporter) && gathering.missing.size === 0) gathering.done();
  }
}
