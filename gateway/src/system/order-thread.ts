import { type MessagePort, parentPort, type Transferable } from "node:worker_threads";
import { lowerPriority } from "./process.ts";
import { endOrder, type OrderAnswer } from "./thread-messages.ts";
import { type ThreadProgram, WorkerThread } from "./worker-thread.ts";

interface OrderThreadOptions extends ThreadProgram {
  /** It ended while it was wanted, or could not begin. */
  readonly onDeath: (problem: string) => void;
}

/**
 * One thread that does one order at a time; its program calls `serveOrders`. It is started with its first order, and again
 * when it has died or was ended.
 */
export class OrderThread<Order extends object, Reply> {
  readonly #options: OrderThreadOptions;
  #thread: WorkerThread<Order | typeof endOrder, OrderAnswer<Reply>> | null = null;
  #answer: ((answer: OrderAnswer<Reply>) => void) | null = null;
  #stopping = false;

  constructor(options: OrderThreadOptions) {
    this.#options = options;
  }

  get free(): boolean {
    return this.#answer === null;
  }

  /** It has begun, and need not read its program first. */
  get begun(): boolean {
    return this.#thread !== null;
  }

  /** Resolves with the reply, or with what went wrong. Never rejects. */
  run(order: Order, moved?: readonly Transferable[]): Promise<OrderAnswer<Reply>> {
    if (this.#answer !== null) throw new Error("the thread is given one order at a time");
    const { promise, resolve } = Promise.withResolvers<OrderAnswer<Reply>>();
    this.#answer = (answer) => {
      this.#answer = null;
      this.#thread?.release();
      resolve(answer);
    };
    this.#thread ??= this.#started();
    this.#thread.hold();
    this.#thread.post(order, moved);
    return promise;
  }

  /** From outside. What it is at work on fails when it is gone, and it is not free before. */
  stop(): void {
    if (this.#thread === null) return;
    this.#stopping = true;
    this.#thread.stop();
  }

  /**
   * Ends it: by itself when it has nothing to do, so that it lets go of what it holds; else from outside, and its order
   * fails at once. Resolves when it is gone.
   */
  async end(): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    this.#thread = null;
    this.#stopping = false;
    thread.leave();
    if (this.#answer === null) thread.post(endOrder);
    else thread.stop();
    this.#answer?.({ failed: "the thread was ended" });
    await thread.gone;
  }

  #started(): WorkerThread<Order | typeof endOrder, OrderAnswer<Reply>> {
    return new WorkerThread(this.#options, {
      onReport: (answer: OrderAnswer<Reply>) => {
        // A reply that came before the end would make it free, and the next order would be given to a thread that is going.
        if (!this.#stopping) this.#answer?.(answer);
      },
      onEnd: (problem) => {
        this.#thread = null;
        this.#stopping = false;
        this.#options.onDeath(problem);
        this.#answer?.({ failed: problem });
      },
    });
  }
}

interface OrderProgram<Order, Reply> {
  readonly work: (order: Order) => Reply | Promise<Reply>;
  /** Which buffers of a reply are moved, not copied. */
  readonly moved?: (reply: Reply) => Transferable[];
  /** Lets go of what it holds, at its end. */
  readonly close?: () => Promise<void>;
}

/**
 * Makes this thread one of an OrderThread's: each message is an order, each answer its reply. For entry points of threads;
 * anywhere else it does nothing.
 */
export function serveOrders<Order, Reply>(program: OrderProgram<Order, Reply>): void {
  if (parentPort === null) return;
  lowerPriority(niceness);
  listen(parentPort, program);
}

function listen<Order, Reply>(port: MessagePort, { work, moved, close }: OrderProgram<Order, Reply>): void {
  const done = (reply: Reply): void => port.postMessage({ reply } satisfies OrderAnswer<Reply>, moved?.(reply) ?? none);
  const failed = (thrown: unknown): void => port.postMessage({ failed: wordsOf(thrown) } satisfies OrderAnswer<Reply>);
  port.on("message", async (order: Order | typeof endOrder) => {
    if (order === endOrder) {
      void (close?.() ?? Promise.resolve()).catch(() => undefined).finally(() => port.close());
      return;
    }
    try {
      done(await work(order));
    } catch (thrown) {
      failed(thrown);
    }
  });
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;
}

const niceness = 5;
const none: Transferable[] = [];
