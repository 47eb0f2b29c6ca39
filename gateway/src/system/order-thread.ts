import { type MessagePort, parentPort, type Transferable } from "node:worker_threads";
import { lowerPriority } from "./process.ts";
import { endOrder, type OrderAnswer } from "./thread-messages.ts";
import { type ThreadProgram, WorkerThread } from "./worker-thread.ts";

interface OrderThreadOptions extends ThreadProgram {
  /** It ended unexpectedly, or could not start. */
  readonly onDeath: (problem: string) => void;
}

/**
 * A thread that does one order at a time; its program calls `serveOrders`. Starts with the first order, and again after it died or was
 * ended.
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

  get isRunning(): boolean {
    return this.#thread !== null;
  }

  /** Resolves to the reply or the failure. Never rejects. */
  run(order: Order, moved?: readonly Transferable[]): Promise<OrderAnswer<Reply>> {
    if (this.#answer !== null) throw new Error("the thread is busy");
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

  /** Terminates the thread. Its order fails, and it is free, once it has ended. */
  stop(): void {
    if (this.#thread === null) return;
    this.#stopping = true;
    this.#thread.stop();
  }

  /** Ends an idle thread cleanly. Terminates a busy one; its order fails at once. Resolves when the thread has ended. */
  async end(): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    this.#thread = null;
    this.#stopping = false;
    thread.stopListening();
    if (this.#answer === null) thread.post(endOrder);
    else thread.stop();
    this.#answer?.({ failed: "the thread was ended" });
    await thread.ended;
  }

  #started(): WorkerThread<Order | typeof endOrder, OrderAnswer<Reply>> {
    return new WorkerThread(this.#options, {
      onReport: (answer: OrderAnswer<Reply>) => {
        // A reply between stop and end must not free it: the next order would go to an ending thread.
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
  /** Buffers of a reply to transfer instead of copy. */
  readonly moved?: (reply: Reply) => Transferable[];
  /** Cleanup at the end. */
  readonly close?: () => Promise<void>;
}

/** The thread's side of OrderThread: answers each message. Does nothing in the main thread. */
export function serveOrders<Order, Reply>(program: OrderProgram<Order, Reply>): void {
  if (parentPort === null) return;
  lowerPriority(niceness);
  listen(parentPort, program);
}

function listen<Order, Reply>(port: MessagePort, { work, moved, close }: OrderProgram<Order, Reply>): void {
  const done = (reply: Reply): void => port.postMessage({ reply } satisfies OrderAnswer<Reply>, moved?.(reply) ?? none);
  const failed = (thrown: unknown): void =>
    port.postMessage({ failed: describeError(thrown) } satisfies OrderAnswer<Reply>);
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

function describeError(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;
}

const niceness = 5;
const none: Transferable[] = [];
