import { Worker } from "node:worker_threads";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { late } from "./report-desk.ts";
import type { ReportAnswer, ReportAsk, ReportKind, ReportOrder, ReportReply } from "./report-messages.ts";

export interface ReportThreadOptions {
  readonly databasePath: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** Something can be asked again. */
  readonly onFree: () => void;
}

/**
 * One thread that answers one question at a time. It begins with its first question and ends when it has not been asked
 * for `bounds.reportIdleMs`. One that does not notice its lateness is ended from outside, as soon as the statement that it
 * is in lets go of it; until then it is not free.
 */
export class ReportThread {
  readonly #options: ReportThreadOptions;
  #worker: Worker | null = null;
  #answer: ((reply: ReportReply) => void) | null = null;
  #unbookEnd: () => void = () => undefined;
  #closed = false;

  constructor(options: ReportThreadOptions) {
    this.#options = options;
  }

  get free(): boolean {
    return this.#answer === null;
  }

  /** Settles after `ms` at the latest, though the thread may stay busy for longer. */
  async ask<Kind extends ReportKind>(kind: Kind, ask: ReportAsk<Kind>, ms: number): Promise<ReportAnswer<Kind>> {
    const { promise, resolve } = Promise.withResolvers<ReportReply>();
    this.#unbookEnd();
    const worker = this.#running();
    const unbookLate = this.#options.clock.after(ms, () => resolve(refusal(late())));
    const unbookKill = this.#options.clock.after(ms + bounds.reportGraceMs, () => {
      this.#options.observer.log("warn", "A report is late and its thread is ended.", { report: kind });
      void worker.terminate();
    });
    this.#answer = (reply) => {
      unbookLate();
      unbookKill();
      this.#answer = null;
      worker.unref();
      this.#unbookEnd = this.#options.clock.after(bounds.reportIdleMs, () => this.#end());
      resolve(reply);
      this.#options.onFree();
    };
    worker.ref();
    worker.postMessage({ type: "ask", kind, ask, ms } satisfies ReportOrder);
    const reply = await promise;
    if (reply.type === "answer") {
      const answer: ReportAnswer<Kind> = JSON.parse(reply.json);
      return answer;
    }
    if (reply.type === "refusal") throw new Failure(reply.code, reply.message, { param: reply.param });
    this.#options.observer.log("error", "A report could not be read.", { report: kind, error: reply.detail });
    throw new Failure("internal_error", "This could not be read from the database.");
  }

  /** What it was asked is refused. Resolves when the thread is gone, or when a long statement does not let go of it. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#unbookEnd();
    if (worker === null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.once("exit", () => resolve());
    const unbook = this.#options.clock.after(bounds.reportGraceMs, resolve);
    if (this.#answer === null) this.#end();
    else {
      this.#answer(refusal(draining()));
      void worker.terminate();
    }
    await promise;
    unbook();
    this.#unbookEnd();
  }

  #running(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL("./report-worker.ts", import.meta.url), { name: "reports" });
    worker.unref();
    worker.on("message", (reply: ReportReply) => this.#answer?.(reply));
    worker.on("error", (error: Error) => {
      this.#options.observer.log("error", "A thread of reports failed.", { error: error.name });
    });
    worker.on("exit", () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#answer?.(this.#closed ? refusal(draining()) : { type: "broken", detail: "the thread has ended" });
    });
    worker.postMessage({ type: "start", databasePath: this.#options.databasePath } satisfies ReportOrder);
    this.#worker = worker;
    return worker;
  }

  /** It closes its connection itself. A question that comes now gets a thread of its own. */
  #end(): void {
    const worker = this.#worker;
    this.#worker = null;
    this.#unbookEnd();
    worker?.postMessage({ type: "end" } satisfies ReportOrder);
  }
}

function refusal({ code, message, param }: Failure): ReportReply {
  return { type: "refusal", code, message, param };
}

export function draining(): Failure {
  return new Failure("draining", "The gateway is shutting down.");
}
