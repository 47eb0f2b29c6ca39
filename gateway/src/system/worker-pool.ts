import { type CallSignal, Failure, FairShare, type MemoryOwner, type ShareProblem } from "#core/index.ts";
import type { Clock, Observer, Offload } from "#ports/index.ts";
import { OrderThread } from "./order-thread.ts";
import type { OrderAnswer } from "./thread-messages.ts";

export interface WorkerPoolOptions {
  /** The module that a thread runs; it calls `serveOrders`. */
  readonly entry: URL;
  readonly name: string;
  readonly threads: number;
  readonly waitingMax: number;
  /** How long one order may take, its wait included. */
  readonly jobMs: number;
  /** Unasked threads end after this. */
  readonly idleMs: number;
  /** Orders of this size and more may take long: one thread is always left to the others. */
  readonly longBytes: number;
  /** Smaller orders go first, but for those that have waited so long. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

type PoolThread = OrderThread<object, unknown>;

interface Waiting {
  readonly order: object;
  readonly size: number;
  readonly owner: MemoryOwner;
  readonly moved: readonly ArrayBuffer[];
  readonly sinceMs: number;
  readonly begin: (thread: PoolThread) => void;
  readonly refuse: (failure: Failure) => void;
}

/** Of work that is no caller's. */
const ownWork: MemoryOwner = { key: { id: "" }, workspace: { id: "" } };

/** Orders done in a few threads, which begin with the first of them and end when nobody asks. */
export class WorkerPool implements Offload {
  readonly #options: WorkerPoolOptions;
  readonly #threads: readonly PoolThread[];
  readonly #atLong = new Set<PoolThread>();
  readonly #waiting: Waiting[] = [];
  /** Places among those that wait. */
  readonly #places: FairShare;
  readonly #running = new Set<Waiting>();
  /** When each key had its last turn, while anything waits. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #unbookEnd = (): void => {};
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#places = new FairShare(options.waitingMax);
    const onDeath = (problem: string): void =>
      options.observer.log("error", "A thread that works on bodies has died.", { thread: options.name, problem });
    const { entry, name } = options;
    this.#threads = Array.from({ length: options.threads }, () => new OrderThread({ entry, name, onDeath }));
  }

  run(
    order: object,
    size: number,
    moved: readonly ArrayBuffer[],
    { signal, owner }: { readonly signal: CallSignal | null; readonly owner: MemoryOwner | null },
  ): Promise<unknown> {
    const { clock, jobMs } = this.#options;
    if (this.#closed) return Promise.reject(draining());
    if (signal?.aborted === true) return Promise.reject(gone());
    const problem = this.#places.take(owner ?? ownWork, 1);
    if (problem !== null) return Promise.reject(problem === "all" ? overloaded() : tooMuch(problem));
    this.#unbookEnd();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let at: PoolThread | null = null;
    const over = (): void => {
      unbook();
      signal?.removeEventListener("abort", leave);
      this.#running.delete(waiting);
      this.#forget(waiting);
    };
    const refuse = (failure: Failure): void => {
      over();
      reject(failure);
    };
    // What has begun is done to its end: to end a thread for it would cost the next order more.
    const leave = (): void => {
      if (at === null) refuse(gone());
    };
    const unbook = clock.after(jobMs, () => {
      refuse(overloaded());
      void at?.end();
    });
    const begin = (thread: PoolThread): void => {
      at = thread;
      this.#running.add(waiting);
      if (this.#isLong(waiting)) this.#atLong.add(thread);
      void thread.run(order, moved).then((reply) => {
        over();
        this.#atLong.delete(thread);
        this.#settle(reply, resolve, reject);
        this.#next();
      });
    };
    const waiting: Waiting = { order, size, owner: owner ?? ownWork, moved, sinceMs: clock.monotonic(), begin, refuse };
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiting.push(waiting);
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unbookEnd();
    for (const waiting of [...this.#waiting, ...this.#running]) waiting.refuse(draining());
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #settle(reply: OrderAnswer<unknown>, resolve: (value: unknown) => void, reject: (failure: Failure) => void): void {
    if ("reply" in reply) resolve(reply.reply);
    else
      reject(new Failure("internal_error", "The gateway met an unexpected error.", { cause: new Error(reply.failed) }));
  }

  #next(): void {
    if (this.#closed) return;
    for (const thread of this.#threads) {
      if (!thread.free) continue;
      const waiting = this.#choose();
      if (waiting === null) break;
      this.#forget(waiting);
      this.#turns.set(waiting.owner.key.id, ++this.#turn);
      waiting.begin(thread);
    }
    if (this.#waiting.length === 0) this.#turns.clear();
    if (this.#running.size === 0 && this.#waiting.length === 0) this.#endLater();
  }

  /** Of the key whose last turn is the longest ago. null: nothing waits, or only what may take long while all other threads are at such. */
  #choose(): Waiting | null {
    const { clock, patienceMs, threads } = this.#options;
    const roomForLong = this.#atLong.size < Math.max(1, threads - 1);
    const sinceMs = clock.monotonic() - patienceMs;
    let chosen: Waiting | null = null;
    let turn = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      if (this.#isLong(waiting) && !roomForLong) continue;
      const own = this.#turns.get(waiting.owner.key.id) ?? 0;
      if (own > turn) continue;
      // Else the first that has waited long, or the smallest.
      if (chosen !== null && own === turn && (chosen.sinceMs <= sinceMs || waiting.size >= chosen.size)) continue;
      chosen = waiting;
      turn = own;
    }
    return chosen;
  }

  #isLong({ size }: Waiting): boolean {
    return size >= this.#options.longBytes;
  }

  #forget(waiting: Waiting): void {
    const place = this.#waiting.indexOf(waiting);
    if (place === -1) return;
    this.#waiting.splice(place, 1);
    this.#places.add(waiting.owner, -1);
  }

  #endLater(): void {
    this.#unbookEnd();
    this.#unbookEnd = this.#options.clock.after(this.#options.idleMs, () => {
      if (this.#running.size === 0) for (const thread of this.#threads) void thread.end();
    });
  }
}

function overloaded(): Failure {
  return new Failure("overloaded", "The gateway has too many large requests to work on at the moment; try again.", {
    retryAfterMs: 1_000,
  });
}

function tooMuch(problem: Exclude<ShareProblem, "all">): Failure {
  const whose = problem === "key" ? "this key" : "the workspace of this key";
  const message = `Too many large requests of ${whose} wait to be worked on. Try again when some of its calls have ended.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}

function gone(): Failure {
  return new Failure("client_closed", "The caller went away.");
}

function draining(): Failure {
  return new Failure("draining", "The gateway is shutting down.");
}
