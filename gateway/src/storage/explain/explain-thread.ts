import { Worker } from "node:worker_threads";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { ExplainAges, ExplainBatch, ExplainOrder, ExplainReport } from "./explain-messages.ts";

/** Writes batches and removes old rows beside the event loop. One order at a time; each resolves when it is done, or rejects. */
export interface ExplainWriter {
  keep(batch: ExplainBatch): Promise<number>;
  prune(ages: ExplainAges): Promise<number>;
  end(timeoutMs: number): Promise<void>;
}

/**
 * A thread with a database connection of its own, started with the first order: most gateways never have one. When it dies
 * its order is rejected, and one that comes soon after as well; then it is started again.
 */
export class ExplainThread implements ExplainWriter {
  readonly #databasePath: string;
  readonly #clock: Clock;
  #worker: Worker | null = null;
  #restMs = 0;
  #answer: ((report: ExplainReport) => void) | null = null;

  constructor(databasePath: string, clock: Clock) {
    this.#databasePath = databasePath;
    this.#clock = clock;
  }

  keep(batch: ExplainBatch): Promise<number> {
    return this.#done({ type: "keep", batch });
  }

  prune(ages: ExplainAges): Promise<number> {
    return this.#done({ type: "prune", ages });
  }

  async end(timeoutMs: number): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    if (this.#answer === null) {
      const late = Promise.withResolvers<void>();
      const unbook = this.#clock.after(timeoutMs, late.resolve);
      await Promise.race([this.#ask({ type: "end" }), late.promise]);
      unbook();
    }
    this.#worker = null;
    await worker.terminate();
  }

  async #done(order: ExplainOrder): Promise<number> {
    const report = await this.#ask(order);
    if (report.type === "done") return report.rows;
    throw new Error(report.type === "failed" ? report.problem : "the thread has ended");
  }

  #ask(order: ExplainOrder): Promise<ExplainReport> {
    if (this.#answer !== null) throw new Error("the thread is given one order at a time");
    const { promise, resolve } = Promise.withResolvers<ExplainReport>();
    this.#answer = resolve;
    const worker = this.#running();
    if (worker === null) this.#hear({ type: "failed", problem: "the thread that writes them has stopped" });
    else worker.postMessage(order);
    return promise;
  }

  /** null: it died a moment ago. */
  #running(): Worker | null {
    if (this.#worker !== null) return this.#worker;
    if (this.#clock.monotonic() < this.#restMs) return null;
    const worker = new Worker(new URL("./explain-worker.ts", import.meta.url), {
      name: "explanations",
      workerData: this.#databasePath,
    });
    worker.on("message", (report: ExplainReport) => this.#hear(report));
    worker.on("error", (error: Error) => this.#died(worker, error.message));
    worker.on("exit", () => this.#died(worker, "the thread that writes them has stopped"));
    this.#worker = worker;
    return worker;
  }

  #died(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#restMs = this.#clock.monotonic() + bounds.explainRestartMs;
    this.#hear({ type: "failed", problem });
  }

  #hear(report: ExplainReport): void {
    const answer = this.#answer;
    this.#answer = null;
    answer?.(report);
  }
}
