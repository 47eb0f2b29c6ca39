import { type Transferable, Worker } from "node:worker_threads";
import { isBuilt } from "./process.ts";

/** What a thread runs: `new URL("./x-worker.ts", import.meta.url)`, and what it is given at its start (`workerData`). */
export interface ThreadProgram {
  readonly entry: URL;
  readonly name: string;
  readonly data?: unknown;
}

export interface ThreadListener<Report> {
  readonly onReport: (report: Report) => void;
  /** Once, when it has ended by itself, has died, or was told to stop; `problem` says why, in words for the log. */
  readonly onEnd: (problem: string) => void;
}

/** A thread from its start to its end; there is no other place that starts one. It keeps the process alive while it is held. */
export class WorkerThread<Message, Report> {
  readonly #worker: Worker;
  readonly #gone = Promise.withResolvers<void>();
  #listener: ThreadListener<Report> | null;

  constructor({ entry, name, data }: ThreadProgram, listener: ThreadListener<Report>) {
    this.#listener = listener;
    this.#worker = new Worker(isBuilt ? builtEntry(entry) : entry, { name, workerData: data });
    this.#worker.on("message", (report: Report) => this.#listener?.onReport(report));
    this.#worker.on("error", (error: Error) => this.#end(`${error.name}: ${error.message}`));
    this.#worker.on("exit", () => {
      this.#gone.resolve();
      this.#end("the thread has ended");
    });
  }

  /** Resolves when it is gone, with all that it held. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  post(message: Message, moved: readonly Transferable[] = none): void {
    // Read, not written to.
    this.#worker.postMessage(message, moved as Transferable[]);
  }

  hold(): void {
    this.#worker.ref();
  }

  release(): void {
    this.#worker.unref();
  }

  /** From outside: as soon as the statement that it is in lets go of it. Its listener is told. */
  stop(): void {
    void this.#worker.terminate();
  }

  /** Nothing more is told of it. */
  leave(): void {
    this.#listener = null;
  }

  #end(problem: string): void {
    const listener = this.#listener;
    this.#listener = null;
    listener?.onEnd(problem);
  }
}

/** In a build each thread's program is a file beside the program itself, and no TypeScript any more. */
function builtEntry(entry: URL): URL {
  return new URL(entry.href.replace(/\.ts$/, ".js"));
}

const none: readonly Transferable[] = [];
