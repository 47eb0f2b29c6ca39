import { isDeepStrictEqual } from "node:util";
import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type RedisAddress, readRedisAddress } from "./redis-address.ts";
import { type OnReady, openRedisLink, type RedisLink } from "./redis-link.ts";

/**
 * Makes links to the Redis of one address. Certificates are renewed in the files that the address names, and the library makes a lost
 * connection again with those that it was given: so they are read for each link, and one that was made with others is not kept.
 */
export class RedisConnector {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #madeWith = new WeakMap<RedisLink, RedisAddress["tls"]>();
  #address: RedisAddress;

  /** Throws RedisUnusable where the address will not do. */
  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
    this.#address = readRedisAddress(url);
  }

  /** The address without accounts. */
  get shown(): string {
    return this.#address.shown;
  }

  async open(onReady: OnReady): Promise<RedisLink> {
    this.#readAgain();
    const { tls } = this.#address;
    const late = new AbortController();
    const stop = afterRunningFor(this.#clock, bounds.redisConnectMs, () => late.abort());
    const link = await openRedisLink(this.#address, onReady, late.signal).finally(stop);
    this.#madeWith.set(link, tls);
    return link;
  }

  /** The same link; null: there is none, or it was made with other certificates than there are now, and is closed. */
  kept(link: RedisLink | null): RedisLink | null {
    if (link === null || this.#address.tls === null || !this.#madeWith.has(link)) return link;
    this.#readAgain();
    if (isDeepStrictEqual(this.#madeWith.get(link), this.#address.tls)) return link;
    link.close();
    return null;
  }

  /** What is half written is read at the next look. */
  #readAgain(): void {
    if (this.#address.tls === null) return;
    try {
      this.#address = readRedisAddress(this.#url);
    } catch {
      // Those of before stay.
    }
  }
}
