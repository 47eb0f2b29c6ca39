import type { Operation } from "./scripts.ts";

/** Operations in one message. */
export const redisMessageMax = 32;

interface Asked {
  readonly epoch: string;
  /** As the script `message` reads it. */
  readonly words: readonly string[];
  readonly resolve: (answer: readonly unknown[]) => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * What calls ask and tell within one turn of the loop goes to the shared counter as one message, in its order: a message costs
 * this process and the server more than what is in it.
 */
export class MessageQueue {
  readonly #send: (epoch: string, operations: string) => Promise<readonly unknown[]>;
  #waiting: Asked[] = [];

  /** `send` has the script `message` run. */
  constructor(send: (epoch: string, operations: string) => Promise<readonly unknown[]>) {
    this.#send = send;
  }

  /** In an epoch that has ended nothing is done, and the answer is -1. */
  ask(epoch: string, operation: Operation, args: readonly string[]): Promise<readonly unknown[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    this.#waiting.push({ epoch, words: [operation, "", ...args], resolve, reject });
    if (this.#waiting.length === 1) setImmediate(() => this.flush());
    return promise;
  }

  /** Sends what waits, so that it comes before what is sent next. */
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

  async #post(epoch: string, all: readonly Asked[]): Promise<void> {
    try {
      const answer = await this.#send(epoch, JSON.stringify(all.map(({ words }) => words)));
      // A word alone is of the whole message: its epoch has ended.
      const answers: readonly (readonly unknown[])[] | null =
        typeof answer[0] === "string" ? JSON.parse(answer[0]) : null;
      for (const [index, { resolve }] of all.entries()) resolve(answers?.[index] ?? answer);
    } catch (thrown) {
      for (const { reject } of all) reject(thrown);
    }
  }
}
