import type { Operation } from "./scripts.ts";

/** Operations in one message. */
export const redisMessageMax = 32;

interface QueuedOperation {
  readonly epoch: string;
  /** As the script `message` reads it. */
  readonly words: readonly string[];
  readonly resolve: (answer: readonly unknown[]) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Batches the operations of one turn of the event loop into one script call: a round trip costs more than the operations in it. */
export class MessageQueue {
  readonly #send: (epoch: string, operations: string) => Promise<readonly unknown[]>;
  #waiting: QueuedOperation[] = [];

  /** `send` runs the script `message`. */
  constructor(send: (epoch: string, operations: string) => Promise<readonly unknown[]>) {
    this.#send = send;
  }

  /** If the epoch has ended, the operation is not run and the answer is -1. */
  request(epoch: string, operation: Operation, args: readonly string[]): Promise<readonly unknown[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    this.#waiting.push({ epoch, words: [operation, "", ...args], resolve, reject });
    if (this.#waiting.length === 1) setImmediate(() => this.flush());
    return promise;
  }

  /** Sends what waits, so that it precedes what the caller sends next. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; ) {
      const epoch = waiting[from]?.epoch ?? "";
      let to = from + 1;
      while (to < waiting.length && to - from < redisMessageMax && waiting[to]?.epoch === epoch) to++;
      void this.#post(epoch, waiting.slice(from, to));
      from = to;
    }
  }

  async #post(epoch: string, all: readonly QueuedOperation[]): Promise<void> {
    try {
      const answer = await this.#send(epoch, JSON.stringify(all.map(({ words }) => words)));
      // A number instead of JSON is the answer to the whole message: the epoch has ended.
      const answers: readonly (readonly unknown[])[] | null =
        typeof answer[0] === "string" ? JSON.parse(answer[0]) : null;
      for (const [index, { resolve }] of all.entries()) resolve(answers?.[index] ?? answer);
    } catch (thrown) {
      for (const { reject } of all) reject(thrown);
    }
  }
}
