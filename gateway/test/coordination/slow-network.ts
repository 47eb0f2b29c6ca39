import type { Chance } from "#ports/index.ts";
import type { RedisLink } from "../../src/coordination/redis/redis-link.ts";

interface Message {
  readonly command: readonly string[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  answer: unknown;
}

/** One connection: questions and answers go one after the other, and are lost together. */
class Wire {
  readonly process: number;
  asked: Message[] = [];
  answered: Message[] = [];
  isClosed = false;

  constructor(process: number) {
    this.process = process;
  }

  cut(): void {
    const lost = [...this.answered, ...this.asked];
    this.asked = [];
    this.answered = [];
    for (const { reject } of lost) reject(new Error("the connection was cut"));
  }
}

export interface NetworkParts {
  readonly chance: Chance;
  readonly nowMs: () => number;
  /** Does a command on the real server. */
  readonly type: (...words: string[]) => Promise<unknown>;
  /** Told when a script was run: its arguments, and what it answered. */
  readonly ran: (command: readonly string[], answer: unknown) => void;
}

/**
 * A network between processes and a real Redis, in which each message moves when `step` says so, in an order that a seed decides.
 * The scripts' time is that of their running. A cut loses questions, or answers to what was done.
 */
export class SlowNetwork {
  readonly #parts: NetworkParts;
  #wires: Wire[] = [];
  /** How many messages with a recall were done, and as of how many a list of recalls was seen empty: nothing else fills one. */
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
          else wire.asked.push({ command, resolve, reject, answer: null });
        }),
      close: () => {
        wire.isClosed = true;
        wire.cut();
        this.#wires = this.#wires.filter((each) => each !== wire);
      },
    };
  }

  /** A process dies, or its connections break. What it had asked may have been done. */
  cut(process: number): void {
    for (const wire of this.#wires) if (wire.process === process) wire.cut();
  }

  /** One message moves; false: none can. */
  async step(): Promise<boolean> {
    const ready = this.#wires.filter(
      ({ process, asked, answered }) => !this.away.has(process) && (asked.length > 0 || answered.length > 0),
    );
    for (let tries = ready.length; tries > 0; tries--) {
      const [wire] = ready.splice(Math.floor(this.#parts.chance.unit() * ready.length), 1);
      if (wire !== undefined && (await this.#move(wire))) return true;
    }
    return false;
  }

  async #move(wire: Wire): Promise<boolean> {
    const question = wire.asked[0];
    if (question !== undefined && (wire.answered.length === 0 || this.#parts.chance.unit() < 0.5)) {
      const answer = await this.#run(question.command);
      if (answer === nothing) return false;
      wire.asked.shift();
      wire.answered.push({ ...question, answer });
      return true;
    }
    const message = wire.answered.shift();
    if (message === undefined) return false;
    if (message.answer instanceof Error) message.reject(message.answer);
    else message.resolve(message.answer);
    return true;
  }

  async #run(command: readonly string[]): Promise<unknown> {
    const [name, key = ""] = command;
    // It waits as long as there is nothing.
    if (name === "BLPOP") {
      if (this.#emptyAsOf.get(key) === this.#recalls) {
        // Processes go on meanwhile, as they do while a server is asked.
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
