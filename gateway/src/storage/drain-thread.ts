import { Worker } from "node:worker_threads";
import { bounds } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { DrainTarget } from "./drain.ts";
import type { DrainOrder, DrainReport } from "./drain-messages.ts";
import type { JournalDrain } from "./journal-drain.ts";

export interface DrainThreadOptions {
  /** The journal's directory, and the first segment that this process writes. */
  readonly directory: string;
  readonly firstSegment: number;
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * The drain in a thread of its own with its own database connection, so that a slow or locked database never holds up
 * a call. A thread that dies is started again and reads the files from the oldest one: what is stored twice counts once.
 */
export function startDrain(options: DrainThreadOptions): JournalDrain {
  return new DrainThread(options);
}

class DrainThread implements JournalDrain {
  readonly #options: DrainThreadOptions;
  #worker: Worker;
  #target: DrainTarget;
  #sent: DrainTarget;
  #unbook: (() => void) | null = null;
  #stored = 0;
  #listener: () => void = () => undefined;
  #problem: string | null = null;
  #ended: (() => void) | null = null;

  constructor(options: DrainThreadOptions) {
    this.#options = options;
    this.#target = { segment: options.firstSegment, end: 0, settled: 0 };
    this.#sent = this.#target;
    this.#worker = this.#spawn();
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
    this.#unbook = this.#options.clock.after(bounds.drainNoticeMs, () => {
      this.#unbook = null;
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
    const inTime = await new Promise<boolean>((resolve) => {
      const unbook = this.#options.clock.after(timeoutMs, () => resolve(false));
      this.#ended = () => {
        unbook();
        resolve(true);
      };
      this.#order({ type: "end", target: this.#target });
    });
    this.#ended ??= () => undefined;
    // Its connection is let go of with the thread: only then may others take the database's files away.
    const late = Promise.withResolvers<void>();
    const unbook = this.#options.clock.after(bounds.flushMs, late.resolve);
    await Promise.race([this.#worker.terminate(), late.promise]);
    unbook();
    return inTime;
  }

  #spawn(): Worker {
    const worker = new Worker(new URL("./drain-worker.ts", import.meta.url), { name: "ledger drain" });
    worker.on("message", (report: DrainReport) => this.#hear(report));
    worker.on("error", (error: Error) => {
      this.#options.observer.log("error", "The ledger drain failed.", { error: error.message });
    });
    worker.on("exit", () => this.#respawn());
    const { directory, firstSegment, databasePath } = this.#options;
    this.#order({ type: "start", directory, firstSegment, databasePath }, worker);
    return worker;
  }

  #respawn(): void {
    if (this.#ended !== null) return;
    this.#options.observer.log("error", "The ledger drain has stopped and is started again.");
    this.#options.clock.after(bounds.drainRestartMs, () => {
      if (this.#ended !== null) return;
      this.#worker = this.#spawn();
      this.#order({ type: "written", target: this.#target });
    });
  }

  #order(order: DrainOrder, worker: Worker = this.#worker): void {
    worker.postMessage(order);
  }

  #hear(report: DrainReport): void {
    switch (report.type) {
      case "stored":
        if (report.settled <= this.#stored) return;
        this.#stored = report.settled;
        this.#listener();
        return;
      case "problem":
        if (report.problem === this.#problem) return;
        this.#problem = report.problem;
        if (report.problem === null) this.#options.observer.log("info", "The ledger drain goes on.");
        else this.#options.observer.log("warn", "The ledger drain is held up.", { problem: report.problem });
        return;
      case "ended":
        this.#ended?.();
        return;
    }
  }
}
