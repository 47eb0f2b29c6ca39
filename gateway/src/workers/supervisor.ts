import { bounds, within } from "#core/index.ts";
import type { Clock, LogLevel } from "#ports/index.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { PortListeners } from "./port-listeners.ts";
import { SupervisedWorker } from "./supervised-worker.ts";
import type { StartWorker, WorkerEnd } from "./worker-process.ts";

/** A worker that has served calls for this long resets the count of failures in a row. */
export const workerSteadyMs = 10_000;

interface SupervisorOptions {
  readonly count: number;
  readonly start: StartWorker;
  readonly fold: FoldReports;
  readonly clock: Clock;
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Called once with the banner. */
  readonly print: (text: string) => void;
}

/**
 * Keeps `count` workers running that share the ports. The first one starts alone: it prepares what the others share, and its failure to
 * start is reported once. Later, workers that end are replaced.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #workers = new Set<SupervisedWorker>();
  readonly #listening: PortListeners;
  readonly #totals: WorkerTotals;
  /** Reset when a worker has served calls for workerSteadyMs. */
  #endsInARow = 0;
  readonly #restarts = new Map<number, () => void>();
  readonly #allEnded = Promise.withResolvers<void>();
  readonly #startedAt: number;
  #firstIsReady = false;
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
    this.#listening = new PortListeners({
      clock,
      onUnsupported: () =>
        log(
          "warn",
          "cannot steer new connections away from a leaving worker; replacing workers may reset a few connections",
        ),
    });
  }

  /** Resolves to the exit status when all workers have ended. */
  async run(): Promise<number> {
    const { count, print, log } = this.#options;
    const first = this.#start(1);
    const banner = await first.started;
    if (banner !== null) {
      this.#firstIsReady = true;
      print(banner);
      for (let slot = 2; slot <= count && !this.#stopping; slot++) this.#start(slot);
      log("info", "workers started", { workers: count });
      if (this.#rollAgain) this.roll();
    }
    await this.#allEnded.promise;
    return this.#status;
  }

  /** Ends all workers. A second signal, later than bounds.sameSignalMs after the first, ends them without waiting. */
  stop(signal: NodeJS.Signals): void {
    const nowMs = this.#options.clock.monotonic();
    const again = this.#stoppedMs !== null;
    this.#stoppedMs ??= nowMs;
    if (again && nowMs - this.#stoppedMs <= bounds.sameSignalMs) return;
    this.#stopping = true;
    for (const cancel of this.#restarts.values()) cancel();
    this.#restarts.clear();
    for (const worker of this.#workers) {
      if (again) worker.force();
      else worker.end(signal);
    }
    this.#finishIfEnded();
  }

  /** SIGHUP: workers read the config file again. */
  reload(): void {
    for (const worker of this.#workers) if (worker.isResponsive) worker.signal("SIGHUP");
  }

  /** Replaces the workers one by one. Each replacement serves calls before the old worker leaves. */
  roll(): void {
    if (this.#stopping) return;
    if (this.#rolling || !this.#firstIsReady) {
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
    log("info", "replacing workers one by one", { workers: olds.length });
    for (const old of olds) {
      if (this.#stopping) return;
      if (!this.#workers.has(old)) continue;
      const next = this.#start(old.slot);
      if ((await next.started) === null) {
        if (this.#stopping) return;
        log("error", "a replacement worker failed to start; keeping the remaining workers", {
          worker: next.slot,
        });
        return;
      }
      if (this.#stopping) return;
      old.leaving = true;
      await this.#listening.steer();
      if (this.#stopping) return;
      old.leave();
      await old.onEnd;
    }
    log("info", "workers replaced", { workers: olds.length });
  }

  #start(slot: number): SupervisedWorker {
    const { clock, start } = this.#options;
    const worker = new SupervisedWorker({
      slot,
      clock,
      start,
      onMessage: (from, message) => this.#onMessage(from, message),
    });
    this.#workers.add(worker);
    void worker.onEnd.then((end) => this.#onEnd(worker, end));
    return worker;
  }

  #onMessage(worker: SupervisedWorker, message: FromWorker): void {
    if (message.kind === "prepared") this.#listening.prepared(worker);
    else if (message.kind === "listening") this.#listening.listening(worker, message.ports);
    else if (message.kind === "steered") this.#listening.steeredBy(message.turn, message.done);
    else if (message.kind === "report") this.#totals.onReport(worker, message.turn, message.report);
    else if (message.kind === "ask") void this.#sendTotals(worker, message.turn);
    else if (message.kind === "ready") this.#resetWhenSteady(worker);
  }

  #resetWhenSteady(worker: SupervisedWorker): void {
    const cancel = this.#options.clock.after(workerSteadyMs, () => {
      this.#endsInARow = 0;
    });
    void worker.onEnd.then(cancel);
  }

  async #sendTotals(worker: SupervisedWorker, turn: number): Promise<void> {
    const reporters = [...this.#workers].filter(({ isResponsive }) => isResponsive);
    const parts = await this.#totals.gather(reporters);
    const ready = [...this.#workers].filter((one) => one.ready).length;
    const { count } = this.#options;
    worker.send({
      kind: "totals",
      turn,
      totals: { parts, workers: { wanted: count, ready, lost: this.#lost, startedAt: this.#startedAt } },
    });
  }

  #onEnd(worker: SupervisedWorker, end: WorkerEnd): void {
    this.#workers.delete(worker);
    this.#listening.ended(worker);
    this.#totals.ended(worker);
    if (this.#stopping) this.#status = Math.max(this.#status, statusOf(end));
    if (this.#stopping || worker.leaving) {
      this.#finishIfEnded();
      return;
    }
    if (!this.#firstIsReady) {
      this.#status = statusOf(end);
      if (end.code === null) this.#logWorker("error", "the first worker ended before it served calls", worker, end);
      this.#stopping = true;
      this.#finishIfEnded();
      return;
    }
    // A signal to the process group may reach the worker before the supervisor.
    if (end.code === 0) {
      this.#options.clock.after(bounds.sameSignalMs, () => {
        if (!this.#stopping) this.#replace(worker, end);
      });
      return;
    }
    this.#replace(worker, end);
  }

  /** Starts another worker in place of one that ended unexpectedly. */
  #replace(worker: SupervisedWorker, end: WorkerEnd): void {
    this.#lost++;
    // Its predecessor is still running.
    if ([...this.#workers].some((other) => other.slot === worker.slot && !other.leaving)) {
      this.#logWorker("warn", "a worker ended unexpectedly; its predecessor continues", worker, end);
      return;
    }
    this.#endsInARow++;
    const delayMs = Math.min(workerRestartMs * 2 ** (this.#endsInARow - 1), workerRestartMsMax);
    if (this.#endsInARow >= workerEndsMax && ![...this.#workers].some(({ ready }) => ready)) {
      this.#logWorker("error", "workers keep ending and none serves calls; giving up", worker, end);
      this.#status = 1;
      this.stop("SIGTERM");
      return;
    }
    this.#logWorker("error", "a worker ended unexpectedly; restarting it", worker, { ...end, delayMs });
    this.#restarts.get(worker.slot)?.();
    this.#restarts.set(
      worker.slot,
      this.#options.clock.after(delayMs, () => {
        this.#restarts.delete(worker.slot);
        this.#start(worker.slot);
      }),
    );
  }

  #logWorker(level: LogLevel, message: string, worker: SupervisedWorker, more: object): void {
    const { slot, pid, timedOut } = worker;
    this.#options.log(level, message, { worker: slot, pid, ...more, ...(timedOut ? { timedOut } : {}) });
  }

  #finishIfEnded(): void {
    if (this.#stopping && this.#workers.size === 0) this.#allEnded.resolve();
  }
}

/** A worker that got SIGTERM or SIGINT before it could handle them ends with a signal, which is no failure. */
function statusOf({ code, signal }: WorkerEnd): number {
  return code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1);
}

/** The delay before a restart doubles up to the maximum. */
export const workerRestartMs = 200;
export const workerRestartMsMax = 30_000;
/** The gateway gives up after this many failures in a row with no worker serving calls. */
export const workerEndsMax = 8;

interface Reporter {
  send(message: ToWorker): void;
}

/** Merges reports of ended workers: adds up their counters. */
type FoldReports = (reports: readonly unknown[]) => unknown;

/**
 * Collects the reports of all workers. Counts of ended workers are kept, because monitoring takes a falling sum for a restart. A worker
 * that does not answer in time counts with its latest report.
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

  onReport(reporter: Reporter, turn: number, report: unknown): void {
    this.#last.set(reporter, report);
    if (turn === this.#gathering?.turn) this.#onAnswer(reporter);
  }

  ended(reporter: Reporter): void {
    const report = this.#last.get(reporter);
    this.#last.delete(reporter);
    if (report !== undefined) this.#past = this.#fold(this.#past === null ? [report] : [this.#past, report]);
    this.#onAnswer(reporter);
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

  #onAnswer(reporter: Reporter): void {
    const gathering = this.#gathering;
    if (gathering?.missing.delete(reporter) && gathering.missing.size === 0) gathering.done();
  }
}
