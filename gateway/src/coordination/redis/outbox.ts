import { bounds } from "#core/index.ts";
import type { Operation, ScriptName } from "./scripts.ts";

interface Message {
  readonly script: Operation | ScriptName;
  readonly args: readonly string[];
  readonly atMs: number;
  readonly resolve: (answer: readonly unknown[]) => void;
}

/**
 * What has to be told to the counter and must not be lost with a connection: endings and costs. They are sent at once, side
 * by side, in their order; what is not answered is sent again, in the same order, when the counter is there again. Each may
 * be told twice without harm. A cost is told with its age in milliseconds, behind its words.
 */
export class Outbox {
  readonly #messages = new Set<Message>();
  readonly #send: (script: Operation | ScriptName, args: readonly string[]) => Promise<readonly unknown[]>;

  readonly #nowMs: () => number;

  constructor(
    nowMs: () => number,
    send: (script: Operation | ScriptName, args: readonly string[]) => Promise<readonly unknown[]>,
  ) {
    this.#nowMs = nowMs;
    this.#send = send;
  }

  /** When the first of what waits was to be told; null: nothing waits. */
  get sinceMs(): number | null {
    for (const { atMs } of this.#messages) return atMs;
    return null;
  }

  get size(): number {
    return this.#messages.size;
  }

  /** Resolves to the answer, however late that comes. Rejects when too much waits already. */
  tell(
    script: Operation | ScriptName,
    args: readonly string[],
    isUp: boolean,
    atMs = this.#nowMs(),
  ): Promise<readonly unknown[]> {
    if (this.#messages.size >= bounds.redisOutboxMax) {
      return Promise.reject(new Error("Too much waits to be told to the shared counter."));
    }
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
    const message = { script, args, atMs, resolve };
    this.#messages.add(message);
    if (isUp) void this.#post(message);
    return promise;
  }

  /** Sends all that waits. */
  flush(): void {
    for (const message of this.#messages) void this.#post(message);
  }

  async #post(message: Message): Promise<void> {
    try {
      const { script, args, atMs } = message;
      const aged = script === "spend" ? [...args, String(Math.max(0, Math.round(this.#nowMs() - atMs)))] : args;
      const answer = await this.#send(script, aged);
      // It was of another epoch, or its connection broke: it is sent again when the counter is there again.
      if (answer[0] === -1 || answer[0] === -2) return;
      this.#messages.delete(message);
      message.resolve(answer);
    } catch {
      // Whoever sends has told of it.
    }
  }
}

/** Of two times, of which either may be none. */
export function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
