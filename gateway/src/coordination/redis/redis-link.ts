import { isDeepStrictEqual } from "node:util";
import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type RedisAddress, readRedisAddress } from "./redis-address.ts";

/** Silence of one sentinel after which another is asked. */
const redisSentinelMs = 2_000;

/** One way to a Redis: a server, a sentinel's master, or a cluster, whose scripts all go to the node of one key. */
export interface RedisLink {
  /** Sends one command; `key` says to which node. Rejects at once while there is no connection. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** Cuts the connection; what was sent and not answered rejects. */
  close(): void;
}

/** Told when a connection is there again. */
type OnReady = () => void;

/** Rejects with one clear line, without the password: RedisUnusable where no later try would do. */
export async function openRedisLink(address: RedisAddress, onReady: OnReady, signal: AbortSignal): Promise<RedisLink> {
  const { connect, link } = await makers[address.kind](address, onReady);
  try {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(new Error("it does not answer in time.")), { once: true });
    await Promise.race([connect(), promise]);
    return link;
  } catch (thrown) {
    link.close();
    throw thrown;
  }
}

/** Loaded by whoever has a Redis: megabytes that the others have no use for. */
const library = () => import("@redis/client");

/** A link, and what connects it. */
interface Made {
  readonly connect: () => Promise<unknown>;
  readonly link: RedisLink;
}

const makers = { server: serverLink, sentinel: sentinelLink, cluster: clusterLink } as const;

/** The wait before the connection is tried again: the first, doubled each time up to the last. */
const reconnectStrategy = (tries: number): number =>
  Math.min(bounds.redisRetryMs * 2 ** Math.min(tries, 10), bounds.redisRetryMsMax);

const socketOf = ({ tls }: RedisAddress) => ({
  connectTimeout: bounds.redisConnectMs,
  ...(tls === null ? {} : { tls: true as const, ...tls }),
});

async function serverLink(address: RedisAddress, onReady: OnReady): Promise<Made> {
  const { createClient } = await library();
  const [node] = address.nodes;
  let wasReady = false;
  const client = createClient({
    ...address.account,
    database: address.database,
    disableOfflineQueue: true,
    RESP: 2,
    // What fails at the first connection is told to whoever started the gateway; later it is tried for ever.
    socket: {
      ...socketOf(address),
      ...node,
      reconnectStrategy: (tries: number, cause: Error) => (wasReady ? reconnectStrategy(tries) : cause),
    },
  });
  // Each failure is also the rejection of what was sent; without a listener it would end the process.
  client.on("error", () => undefined);
  client.on("ready", () => {
    wasReady = true;
    onReady();
  });
  const send = (_key: string, command: readonly string[]) => client.sendCommand<unknown>([...command]);
  return { connect: () => client.connect(), link: { send, close: () => client.destroy() } };
}

async function sentinelLink(address: RedisAddress, onReady: OnReady): Promise<Made> {
  const { createSentinel } = await library();
  const { nodes } = address;
  // They are asked one after the other: where several are silent, another try does not begin with the same ones.
  const from = Math.floor(Math.random() * nodes.length);
  const silentMs = redisSentinelMs;
  const sentinel = createSentinel({
    name: address.master,
    sentinelRootNodes: [...nodes.slice(from), ...nodes.slice(0, from)],
    maxCommandRediscovers: 3,
    RESP: 2,
    nodeClientOptions: { ...address.account, database: address.database, socket: socketOf(address) },
    sentinelClientOptions: {
      ...address.sentinelAccount,
      // One that tells nothing for long is asked whether it is there.
      pingInterval: silentMs / 2,
      socket: { ...socketOf(address), connectTimeout: silentMs, socketTimeout: silentMs },
    },
  });
  sentinel.on("error", () => undefined);
  sentinel.on("topology-change", () => onReady());
  const send = (_key: string, command: readonly string[]) => sentinel.sendCommand<unknown>(false, [...command]);
  return {
    connect: () => sentinel.connect(),
    link: { send, close: () => void sentinel.destroy().catch(() => undefined) },
  };
}

async function clusterLink(address: RedisAddress, onReady: OnReady): Promise<Made> {
  const { createCluster } = await library();
  const cluster = createCluster({
    RESP: 2,
    rootNodes: address.nodes.map((node) => ({ socket: node })),
    defaults: {
      ...address.account,
      disableOfflineQueue: true,
      socket: { ...socketOf(address), reconnectStrategy },
    },
  });
  cluster.on("error", () => undefined);
  cluster.on("node-ready", () => onReady());
  const send = (key: string, command: readonly string[]) => cluster.sendCommand<unknown>(key, false, [...command]);
  return { connect: () => cluster.connect(), link: { send, close: () => cluster.destroy() } };
}

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
