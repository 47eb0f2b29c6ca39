import type { Chance } from "#ports/index.ts";
import type { RedisLink } from "../../src/coordination/redis/redis-link.ts";

interface Message {
  readonly command: readonly string[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  answer: unknown;
}

/** One connection: requests and answers are ordered, and lost together. */
class Wire {
  readonly process: number;
  requests: Message[] = [];
  answers: Message[] = [];
  isClosed = false;

  constructor(process: number) {
    this.process = process;
  }

  cut(): void {
    const lost = [...this.answers, ...this.requests];
    this.requests = [];
    this.answers = [];
    for (const { reject } of lost) reject(new Error("the connection was cut"));
  }
}

export interface NetworkParts {
  readonly chance: Chance;
  readonly nowMs: () => number;
  /** Runs a command on the real server. */
  readonly type: (...words: string[]) => Promise<unknown>;
  /** Called after a script ran, with its arguments and its answer. */
  readonly ran: (command: readonly string[], answer: unknown) => void;
}

/**
 * A network between processes and a real Redis. `step` delivers one message at a time, in an order that a seed decides.
 * Scripts use the time at which they run. A cut loses requests that have not run, or their answers.
 */
export class SlowNetwork {
  readonly #parts: NetworkParts;
  #wires: Wire[] = [];
  /**
   * Recall messages so far, and the count at which each list of recalls was last seen empty. Nothing else fills these
   * lists.
   */
  #recalls = 0;
  readonly #emptyAsOf = new Map<string, number>();
  /** Processes that are cut off. */
  readonly away = new Set<number>();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  link(process: number): RedisLink {
    const wire = new Wire(process);
    this.#wires.push(wire);
    return {
      send: (_key, command) =>
        new Promise((resolve, reject) => {
          if (wire.isClosed || this.away.has(process)) reject(new Error("there is no connection"));
          else wire.requests.push({ command, resolve, reject, answer: null });
        }),
      close: () => {
        wire.isClosed = true;
        wire.cut();
        this.#wires = this.#wires.filter((each) => each !== wire);
      },
    };
  }

  /** A process dies or its connections break. Requests in flight may have been run. */
  cut(process: number): void {
    for (const wire of this.#wires) if (wire.process === process) wire.cut();
  }

  /** Delivers one message. Returns false when none can be delivered. */
  async step(): Promise<boolean> {
    const ready = this.#wires.filter(
      ({ process, requests, answers }) => !this.away.has(process) && (requests.length > 0 || answers.length > 0),
    );
    for (let tries = ready.length; tries > 0; tries--) {
      const [wire] = ready.splice(Math.floor(this.#parts.chance.unit() * ready.length), 1);
      if (wire !== undefined && (await this.#move(wire))) return true;
    }
    return false;
  }

  async #move(wire: Wire): Promise<boolean> {
    const request = wire.requests[0];
    if (request !== undefined && (wire.answers.length === 0 || this.#parts.chance.unit() < 0.5)) {
      const answer = await this.#run(request.command);
      if (answer === nothing) return false;
      wire.requests.shift();
      wire.answers.push({ ...request, answer });
      return true;
    }
    const message = wire.answers.shift();
    if (message === undefined) return false;
    if (message.answer instanceof Error) message.reject(message.answer);
    else message.resolve(message.answer);
    return true;
  }

  async #run(command: readonly string[]): Promise<unknown> {
    const [name, key = ""] = command;
    // BLPOP waits while the list is empty.
    if (name === "BLPOP") {
      if (this.#emptyAsOf.get(key) === this.#recalls) {
        // Let the processes run meanwhile.
        await new Promise((resolve) => setImmediate(resolve));
        return nothing;
      }
      const value = await this.#parts.type("LPOP", key);
      if (value !== null) return [key, value];
      this.#emptyAsOf.set(key, this.#recalls);
      return nothing;
    }
    if (command.some((word) => word.includes('["recall"'))) this.#recalls++;
    const timed = command.map((word, index) =>
      index === 5 && command[2] === "1" ? String(this.#parts.nowMs()) : word,
    );
    try {
      const answer = await this.#parts.type(...timed);
      this.#parts.ran(command, answer);
      return answer;
    } catch (thrown) {
      return thrown instanceof Error ? thrown : new Error(String(thrown));
    }
  }
}

const nothing = Symbol("nothing");
