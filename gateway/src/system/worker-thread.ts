import { type Transferable, Worker } from "node:worker_threads";
import { isBuilt } from "./process.ts";

/** `entry`: `new URL("./x-worker.ts", import.meta.url)`. `data`: its `workerData`. */
export interface ThreadProgram {
  readonly entry: URL;
  readonly name: string;
  readonly data?: unknown;
}

export interface ThreadListener<Report> {
  readonly onReport: (report: Report) => void;
  /** Called once when it ends. `problem`: for the log. */
  readonly onEnd: (problem: string) => void;
}

/** Starts a thread; used for all threads. Keeps the process alive while held. */
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

  /** Resolves when it has ended. */
  get ended(): Promise<void> {
    return this.#gone.promise;
  }

  post(message: Message, moved: readonly Transferable[] = none): void {
    // Only read.
    this.#worker.postMessage(message, moved as Transferable[]);
  }

  hold(): void {
    this.#worker.ref();
  }

  release(): void {
    this.#worker.unref();
  }

  /** Terminates it as soon as its current statement returns. */
  stop(): void {
    void this.#worker.terminate();
  }

  /** Stops listening to it. */
  stopListening(): void {
    this.#listener = null;
  }

  #end(problem: string): void {
    const listener = this.#listener;
    this.#listener = null;
    listener?.onEnd(problem);
  }
}

/** In a build, thread programs are JavaScript files next to the program. */
function builtEntry(entry: URL): URL {
  return new URL(entry.href.replace(/\.ts$/, ".js"));
}

const none: readonly Transferable[] = [];
