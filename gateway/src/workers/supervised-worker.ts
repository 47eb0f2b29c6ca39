import type { Clock } from "#ports/index.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import type { StartWorker, WorkerEnd, WorkerProcess } from "./worker-process.ts";

/** How long a worker may take to start. Migrating a large database takes time. */
const workerStartMs = 600_000;
/** A worker that must end is killed after this time, unless it announces how long ending takes. */
export const workerSilenceMs = 30_000;
/** Added to the announced time. */
export const workerReserveMs = 15_000;
/** How long a worker may take to end after a second signal. */
export const workerHurriedMs = 30_000;

type Stage = "starting" | "ready" | "ending";

/**
 * A worker process and the timeouts of its stages:
 * - starting: until it serves calls (workerStartMs).
 * - ready: no timeout.
 * - ending: the announced time plus a reserve; a worker beyond it is killed.
 */
export class SupervisedWorker {
  /** Number of the worker, from 1. Its replacement has the same. */
  readonly slot: number;
  /** It is being replaced. Set it before new connections are steered away, and call `leave` afterwards. */
  leaving = false;
  readonly #clock: Clock;
  readonly #process: WorkerProcess;
  readonly #ready = Promise.withResolvers<string>();
  #stage: Stage = "starting";
  #cancelTimeout: () => void = () => {};
  #timedOut = false;

  constructor(options: {
    readonly slot: number;
    readonly clock: Clock;
    readonly start: StartWorker;
    readonly onMessage: (worker: SupervisedWorker, message: FromWorker) => void;
  }) {
    this.slot = options.slot;
    this.#clock = options.clock;
    this.#process = options.start((message) => {
      if (message.kind === "ready") this.#isReady(message.banner);
      if (message.kind === "ending") this.#endsWithin(message.withinMs + workerReserveMs);
      options.onMessage(this, message);
    });
    this.#killAfter(workerStartMs);
    void this.#process.ended.then(() => this.#cancelTimeout());
  }

  get pid(): number {
    return this.#process.pid;
  }

  get onEnd(): Promise<WorkerEnd> {
    return this.#process.ended;
  }

  /** It serves calls. */
  get ready(): boolean {
    return this.#stage === "ready";
  }

  /** It answers messages, though it may be ending. */
  get isResponsive(): boolean {
    return this.#stage !== "starting";
  }

  /** It exceeded a timeout and was killed. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Resolves to its banner when it serves calls, or to null if it ends before. */
  get started(): Promise<string | null> {
    return Promise.race([this.#ready.promise, this.onEnd.then(() => null)]);
  }

  send(message: ToWorker): void {
    this.#process.send(message);
  }

  signal(name: NodeJS.Signals): void {
    this.#process.signal(name);
  }

  /** Asks the worker to end when its connections have closed. */
  leave(): void {
    this.#killAfter(workerSilenceMs);
    this.send({ kind: "leave" });
  }

  end(signal: NodeJS.Signals): void {
    if (this.#stage !== "ending") this.#killAfter(workerSilenceMs);
    this.signal(signal);
  }

  /** A second signal: end without waiting. */
  force(): void {
    this.#killAfter(workerHurriedMs);
    this.send({ kind: "force" });
  }

  #isReady(banner: string): void {
    if (this.#stage !== "starting") return;
    this.#stage = "ready";
    this.#cancelTimeout();
    this.#ready.resolve(banner);
  }

  #endsWithin(ms: number): void {
    this.#stage = "ending";
    this.#killAfter(ms);
  }

  #killAfter(ms: number): void {
    this.#cancelTimeout();
    this.#cancelTimeout = this.#clock.after(ms, () => {
      this.#timedOut = true;
      this.signal("SIGKILL");
    });
  }
}
