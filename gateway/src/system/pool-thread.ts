import { Worker } from "node:worker_threads";
import type { JobReply } from "./job-messages.ts";

export interface PoolThreadOptions {
  readonly entry: URL;
  readonly name: string;
  /** It ended while it was at work, or could not begin. */
  readonly onDeath: (problem: string) => void;
}

/** One thread that does one order at a time. It is started with its first order, and again when it has died. */
export class PoolThread {
  readonly #options: PoolThreadOptions;
  #worker: Worker | null = null;
  #answer: ((reply: JobReply) => void) | null = null;

  constructor(options: PoolThreadOptions) {
    this.#options = options;
  }

  get free(): boolean {
    return this.#answer === null;
  }

  /** Resolves with the reply, or with what went wrong. Never rejects. */
  run(order: object, moved: readonly ArrayBuffer[]): Promise<JobReply> {
    const { promise, resolve } = Promise.withResolvers<JobReply>();
    this.#answer = (reply) => {
      this.#answer = null;
      this.#worker?.unref();
      resolve(reply);
    };
    const worker = this.#running();
    worker.ref();
    worker.postMessage(order, [...moved]);
    return promise;
  }

  /** Ends it at once; what it was at work on is refused. */
  async end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#answer?.({ failed: "the thread was ended" });
    await worker?.terminate();
  }

  #running(): Worker {
    if (this.#worker !== null) return this.#worker;
    const { entry, name } = this.#options;
    const worker = new Worker(entry, { name });
    worker.on("message", (reply: JobReply) => {
      if (this.#worker === worker) this.#answer?.(reply);
    });
    worker.on("error", (error: Error) => this.#died(worker, `${error.name}: ${error.message}`));
    worker.on("exit", () => this.#died(worker, "the thread has ended"));
    this.#worker = worker;
    return worker;
  }

  #died(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#options.onDeath(problem);
    this.#answer?.({ failed: problem });
  }
}
