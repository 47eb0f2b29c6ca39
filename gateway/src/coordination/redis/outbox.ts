import { bounds } from "#core/index.ts";
import { isStale, type Operation, type ScriptName } from "./scripts.ts";

interface Message {
  readonly script: Operation | ScriptName;
  readonly args: readonly string[];
  readonly atMs: number;
  readonly resolve: (answer: readonly unknown[]) => void;
}

/**
 * Settlements and costs, which must not be lost with a connection. They are sent at once and in order; unanswered ones are sent
 * again when Redis is back. All are idempotent. A cost is sent with its age in milliseconds as the last argument.
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

  /** When the oldest unanswered message was queued; null: there is none. */
  get oldestMs(): number | null {
    for (const { atMs } of this.#messages) return atMs;
    return null;
  }

  get size(): number {
    return this.#messages.size;
  }

  /** Resolves to the answer, however late. Rejects if the outbox is full. */
  send(
    script: Operation | ScriptName,
    args: readonly string[],
    isUp: boolean,
    atMs = this.#nowMs(),
  ): Promise<readonly unknown[]> {
    if (this.#messages.size >= bounds.redisOutboxMax) {
      return Promise.reject(new Error("Too many messages wait for Redis."));
    }
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
    const message = { script, args, atMs, resolve };
    this.#messages.add(message);
    if (isUp) void this.#post(message);
    return promise;
  }

  flush(): void {
    for (const message of this.#messages) void this.#post(message);
  }

  async #post(message: Message): Promise<void> {
    try {
      const { script, args, atMs } = message;
      const aged = script === "spend" ? [...args, String(Math.max(0, Math.round(this.#nowMs() - atMs)))] : args;
      const answer = await this.#send(script, aged);
      // Stays queued until this process has joined the current epoch.
      if (isStale(answer)) return;
      this.#messages.delete(message);
      message.resolve(answer);
    } catch {
      // Logged by the sender; the message stays queued.
    }
  }
}

export function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
