import { createClient, type RedisClientType } from "@redis/client";
import { createRedisCounter, type RedisCounter, type RedisCounterOptions } from "#coordination/index.ts";
import type { Claim, Counter, Reserved } from "#ports/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";

type Options = Partial<Omit<RedisCounterOptions, "url">>;

/** One Redis server, the counters of any number of processes, and direct access to the server. */
export class RedisFixture {
  readonly server: RedisServer;
  readonly logs: string[] = [];
  readonly #counters: RedisCounter[] = [];
  #hand: RedisClientType | null = null;

  private constructor(server: RedisServer) {
    this.server = server;
  }

  static async open(...args: string[]): Promise<RedisFixture> {
    return new RedisFixture(await RedisServer.start(...args));
  }

  async counter(options: Options = {}, url = this.server.url): Promise<RedisCounter> {
    const counter = await createRedisCounter({
      url,
      clock: systemClock,
      ids: createIds(systemClock),
      observer: { log: (level, message) => void this.logs.push(`${level}: ${message}`) },
      ...options,
    });
    this.#counters.push(counter);
    return counter;
  }

  /** Runs a command on the server, as redis-cli does. */
  async type(...words: string[]): Promise<unknown> {
    if (this.#hand === null) {
      this.#hand = createClient({ url: this.server.url });
      this.#hand.on("error", () => {});
      await this.#hand.connect();
    }
    return this.#hand.sendCommand(words);
  }

  /** The full name of a key in the current epoch. */
  async keyOf(name: string): Promise<string> {
    return `{sluice}:${await this.type("GET", "{sluice}:epoch")}:${name}`;
  }

  /** Waits until a cluster serves all its slots. */
  async ready(): Promise<void> {
    await until(async () => String(await this.type("CLUSTER", "INFO")).includes("cluster_state:ok"));
  }

  async close(): Promise<void> {
    for (const counter of this.#counters) counter.close();
    this.#hand?.destroy();
    await this.server.stop();
  }
}

export async function granted(counter: Counter, claims: readonly Claim[], id?: string): Promise<Reserved> {
  const answer = await counter.reserve(claims, id);
  if (!answer.granted) throw new Error(`claim ${answer.index} was refused (${answer.reason}) at ${answer.state.used}`);
  return answer;
}

export async function setSpent(counter: Counter, key: string, amount = 0): Promise<void> {
  await counter.beginPeriod(key, 0);
  await counter.setSpending(key, 0, { amount, recent: [], cleanFrom: Number.POSITIVE_INFINITY, again: true });
}
