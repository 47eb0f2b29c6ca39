import type { RedisLink } from "../../src/coordination/redis/redis-link.ts";

/** A process's connection to Redis. Commands run at once unless a test delays them or drops their answers. */
export class ControlledLink {
  /** While set, every command fails. */
  isAway = false;
  /** Matches commands whose answer is lost after the server ran them. */
  dropsAnswer: (words: readonly string[]) => boolean = () => false;
  /** Returns a promise to delay an answer. */
  delaysAnswer: (words: readonly string[]) => Promise<void> | null = () => null;
  readonly #type: (...words: string[]) => Promise<unknown>;

  /** `type` runs a command on the server. */
  constructor(type: (...words: string[]) => Promise<unknown>) {
    this.#type = type;
  }

  /** For the counter's `openLink`. Never delivers pushed recalls: the counter sees them in its next answer. */
  readonly open = async (): Promise<RedisLink> => {
    let isClosed = false;
    return {
      send: async (_key, words) => {
        if (words[0] === "BLPOP") return await new Promise<never>(() => undefined);
        if (this.isAway || isClosed) throw new Error("there is no connection");
        const answer = await this.#type(...words);
        await this.delaysAnswer(words);
        if (!this.dropsAnswer(words)) return answer;
        throw new Error("the connection was cut");
      },
      close: () => {
        isClosed = true;
      },
    };
  };
}

/** Whether a message contains share operations. */
export function isShareMessage(words: readonly string[]): boolean {
  return words.some((word) => word.includes('["lease"'));
}
