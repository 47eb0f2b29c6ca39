import type { Clock } from "#ports/index.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import type { StartWorker, WorkerEnd, WorkerProcess } from "./worker-process.ts";

/** From its start until a worker takes calls: migrating a large database takes time. */
const workerStartMs = 600_000;
/** A worker that was told to end says how long it will take, or is killed after this silence. */
export const workerSilenceMs = 30_000;
/** What a worker may take beyond what it said, and in all once the user is in a hurry. */
export const workerReserveMs = 15_000;
export const workerHurriedMs = 30_000;

type Stage = "starting" | "ready" | "ending";

/** One worker on its way from its start to its end. Each stage has its bound; a worker beyond it is killed. */
export class SupervisedWorker {
  /** Which of the workers it is: 1 is the first. Its successor has the same. */
  readonly slot: number;
  readonly startedMs: number;
  readonly #clock: Clock;
  readonly #process: WorkerProcess;
  readonly #ready = Promise.withResolvers<string>();
  #stage: Stage = "starting";
  #leaving = false;
  #cancelLate: () => void = () => {};
  #overdue = false;

  constructor(options: {
    readonly slot: number;
    readonly clock: Clock;
    readonly start: StartWorker;
    readonly hear: (worker: SupervisedWorker, message: FromWorker) => void;
  }) {
    this.slot = options.slot;
    this.#clock = options.clock;
    this.startedMs = options.clock.monotonic();
    this.#process = options.start((message) => {
      if (message.kind === "ready") this.#isReady(message.told);
      if (message.kind === "ending") this.#endsWithin(message.withinMs + workerReserveMs);
      options.hear(this, message);
    });
    this.#killAfter(workerStartMs);
    void this.#process.ended.then(() => this.#cancelLate());
  }

  get pid(): number {
    return this.#process.pid;
  }

  get ended(): Promise<WorkerEnd> {
    return this.#process.ended;
  }

  /** It takes calls. */
  get ready(): boolean {
    return this.#stage === "ready";
  }

  /** It is there, though it may be about to end. */
  get answers(): boolean {
    return this.#stage !== "starting";
  }

  /** Another takes its place. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** It did not do in time what it had to, and was killed. */
  get overdue(): boolean {
    return this.#overdue;
  }

  /** Resolves with its banner when it takes calls, or with null when it ends before. */
  get started(): Promise<string | null> {
    return Promise.race([this.#ready.promise, this.ended.then(() => null)]);
  }

  send(message: ToWorker): void {
    this.#process.send(message);
  }

  signal(name: NodeJS.Signals): void {
    this.#process.signal(name);
  }

  /** From now on it counts no more among those that stay; `leave` tells it so once new connections are kept from it. */
  goes(): void {
    this.#leaving = true;
  }

  leave(): void {
    this.#killAfter(workerSilenceMs);
    this.send({ kind: "leave" });
  }

  end(signal: NodeJS.Signals): void {
    if (this.#stage !== "ending") this.#killAfter(workerSilenceMs);
    this.signal(signal);
  }

  /** Somebody is tired of waiting. */
  hurry(): void {
    this.#killAfter(workerHurriedMs);
    this.send({ kind: "hurry" });
  }

  #isReady(told: string): void {
    if (this.#stage !== "starting") return;
    this.#stage = "ready";
    this.#cancelLate();
    this.#ready.resolve(told);
  }

  #endsWithin(ms: number): void {
    this.#stage = "ending";
    this.#killAfter(ms);
  }

  #killAfter(ms: number): void {
    this.#cancelLate();
    this.#cancelLate = this.#clock.after(ms, () => {
      this.#overdue = true;
      this.signal("SIGKILL");
    });
  }
}
