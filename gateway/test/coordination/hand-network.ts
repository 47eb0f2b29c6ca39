import type { RedisLink } from "../../src/coordination/redis/redis-link.ts";

/** One process's way to the server, in the hands of a test: commands are done as they come, unless it says otherwise. */
export class HandLink {
  /** Nothing of it arrives. */
  isAway = false;
  /** Of which messages the answer is lost, once they are done. */
  loses: (words: readonly string[]) => boolean = () => false;
  /** What an answer waits for on its way. */
  holds: (words: readonly string[]) => Promise<void> | null = () => null;
  readonly #type: (...words: string[]) => Promise<unknown>;

  /** `type` does a command on the server. */
  constructor(type: (...words: string[]) => Promise<unknown>) {
    this.#type = type;
  }

  /** For `openLink` of a counter. Recalls are not heard on it: they are seen in the next answer. */
  readonly open = async (): Promise<RedisLink> => {
    let isClosed = false;
    return {
      send: async (_key, words) => {
        if (words[0] === "BLPOP") return await new Promise<never>(() => undefined);
        if (this.isAway || isClosed) throw new Error("there is no connection");
        const answer = await this.#type(...words);
        await this.holds(words);
        if (!this.loses(words)) return answer;
        throw new Error("the connection was cut");
      },
      close: () => {
        isClosed = true;
      },
    };
  };
}

/** Whether a message tells of shares. */
export function tellsShares(words: readonly string[]): boolean {
  return words.some((word) => word.includes('["lease"'));
}
