import { bounds, within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { ToWorker } from "./messages.ts";

/** Who can be asked for its numbers. */
export interface Reporter {
  send(message: ToWorker): void;
}

/** Makes one report of several, of what only grows: what is kept of workers that ended. */
export type FoldReports = (reports: readonly unknown[]) => unknown;

/**
 * The numbers of all workers. What a worker counted stays when it ends: a sum that falls would be taken for a start from zero,
 * and all that the others counted for new. One that does not answer in time counts with its last numbers.
 */
export class WorkerTotals {
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
