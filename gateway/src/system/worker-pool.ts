import { type CallSignal, Failure, FairShare, type MemoryOwner, type ShareProblem } from "#core/index.ts";
import type { Clock, Observer, Offload } from "#ports/index.ts";
import { OrderThread } from "./order-thread.ts";
import type { OrderAnswer } from "./thread-messages.ts";

export interface WorkerPoolOptions {
  /** Its program calls `serveOrders`. */
  readonly entry: URL;
  readonly name: string;
  readonly threads: number;
  readonly waitingMax: number;
  /** Timeout of an order, including its wait. */
  readonly jobMs: number;
  /** Idle threads end after this. */
  readonly idleMs: number;
  /** Orders of this size or more may take long; one thread is left for others. */
  readonly longBytes: number;
  /** Smaller orders go first, until an order has waited this long. */
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

/** Owner of work that is not a caller's. */
const ownWork: MemoryOwner = { key: { id: "" }, workspace: { id: "" } };

/** Does orders in a few threads, which start on demand and end when idle. */
export class WorkerPool implements Offload {
  readonly #options: WorkerPoolOptions;
  readonly #threads: readonly PoolThread[];
  readonly #longRunning = new Set<PoolThread>();
  readonly #waiting: Waiting[] = [];
  /** Shares of the queue. */
  readonly #queueShares: FairShare;
  readonly #running = new Set<Waiting>();
  /** When each key had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #cancelEnd = (): void => {};
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#queueShares = new FairShare(options.waitingMax);
    const onDeath = (problem: string): void =>
      options.observer.log("error", "worker thread died", { thread: options.name, problem });
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
    if (this.#closed) return Promise.reject(shuttingDown());
    if (signal?.aborted === true) return Promise.reject(clientClosed());
    const problem = this.#queueShares.take(owner ?? ownWork, 1);
    if (problem !== null) return Promise.reject(problem === "all" ? overloaded() : shareExceeded(problem));
    this.#cancelEnd();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let at: PoolThread | null = null;
    const over = (): void => {
      unbook();
      signal?.removeEventListener("abort", leave);
      this.#running.delete(waiting);
      this.#dequeue(waiting);
    };
    const refuse = (failure: Failure): void => {
      over();
      reject(failure);
    };
    // An order that has started is completed, because restarting a thread costs more.
    const leave = (): void => {
      if (at === null) refuse(clientClosed());
    };
    const unbook = clock.after(jobMs, () => {
      refuse(overloaded());
      void at?.end();
    });
    const begin = (thread: PoolThread): void => {
      at = thread;
      this.#running.add(waiting);
      if (this.#isLong(waiting)) this.#longRunning.add(thread);
      void thread.run(order, moved).then((reply) => {
        over();
        this.#longRunning.delete(thread);
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
    this.#cancelEnd();
    for (const waiting of [...this.#waiting, ...this.#running]) waiting.refuse(shuttingDown());
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #settle(reply: OrderAnswer<unknown>, resolve: (value: unknown) => void, reject: (failure: Failure) => void): void {
    if ("reply" in reply) resolve(reply.reply);
    else reject(new Failure("internal_error", "Unexpected error in the gateway.", { cause: new Error(reply.failed) }));
  }

  #next(): void {
    if (this.#closed) return;
    for (const thread of this.#threads) {
      if (!thread.free) continue;
      const waiting = this.#choose();
      if (waiting === null) break;
      this.#dequeue(waiting);
      this.#turns.set(waiting.owner.key.id, ++this.#turn);
      waiting.begin(thread);
    }
    if (this.#waiting.length === 0) this.#turns.clear();
    if (this.#running.size === 0 && this.#waiting.length === 0) this.#scheduleEnd();
  }

  /** Chooses from the key that has waited longest for its turn. null: nothing waits, or only long orders while no thread may take one. */
  #choose(): Waiting | null {
    const { clock, patienceMs, threads } = this.#options;
    const roomForLong = this.#longRunning.size < Math.max(1, threads - 1);
    const sinceMs = clock.monotonic() - patienceMs;
    let chosen: Waiting | null = null;
    let turn = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      if (this.#isLong(waiting) && !roomForLong) continue;
      const own = this.#turns.get(waiting.owner.key.id) ?? 0;
      if (own > turn) continue;
      // Within a key: the first that has waited long, else the smallest.
      if (chosen !== null && own === turn && (chosen.sinceMs <= sinceMs || waiting.size >= chosen.size)) continue;
      chosen = waiting;
      turn = own;
    }
    return chosen;
  }

  #isLong({ size }: Waiting): boolean {
    return size >= this.#options.longBytes;
  }

  #dequeue(waiting: Waiting): void {
    const place = this.#waiting.indexOf(waiting);
    if (place === -1) return;
    this.#waiting.splice(place, 1);
    this.#queueShares.add(waiting.owner, -1);
  }

  #scheduleEnd(): void {
    this.#cancelEnd();
    this.#cancelEnd = this.#options.clock.after(this.#options.idleMs, () => {
      if (this.#running.size === 0) for (const thread of this.#threads) void thread.end();
    });
  }
}

function overloaded(): Failure {
  return new Failure("overloaded", "The gateway is processing too many large requests. Try again.", {
    retryAfterMs: 1_000,
  });
}

function shareExceeded(problem: Exclude<ShareProblem, "all">): Failure {
  const owner = problem === "key" ? "this key" : "the workspace of this key";
  const message = `Too many large requests of ${owner} are waiting. Try again when some of its calls have ended.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}

function clientClosed(): Failure {
  return new Failure("client_closed", "The caller went away.");
}

function shuttingDown(): Failure {
  return new Failure("draining", "The gateway is shutting down.");
}
