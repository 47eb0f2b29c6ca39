import { isDeepStrictEqual } from "node:util";
import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type RedisAddress, readRedisAddress } from "./redis-address.ts";

/** After this time without an answer, the next sentinel is tried. */
const redisSentinelMs = 2_000;

/** A connection to one server, to the master that sentinels report, or to a cluster, where all scripts run on the node of one key. */
export interface RedisLink {
  /** Sends one command to the node of `key`. Rejects at once while there is no connection. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** Closes the connection; unanswered commands reject. */
  close(): void;
}

/** Called after each connect and reconnect. */
type OnReady = () => void;

/** Rejects without secrets in the message. */
export async function openRedisLink(address: RedisAddress, onReady: OnReady, signal: AbortSignal): Promise<RedisLink> {
  const { connect, link } = await linkFactories[address.kind](address, onReady);
  try {
    await Promise.race([connect(), rejectOnAbort(signal)]);
    return link;
  } catch (thrown) {
    link.close();
    throw thrown;
  }
}

export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(new Error("it does not respond in time.")), { once: true });
  return promise;
}

/** Loaded on demand: installations without Redis save its megabytes. */
const library = () => import("@redis/client");

interface NewLink {
  readonly connect: () => Promise<unknown>;
  readonly link: RedisLink;
}

const linkFactories = { server: serverLink, sentinel: sentinelLink, cluster: clusterLink } as const;

const reconnectStrategy = (tries: number): number =>
  Math.min(bounds.redisRetryMs * 2 ** Math.min(tries, 10), bounds.redisRetryMsMax);

const socketOf = ({ tls }: RedisAddress) => ({
  connectTimeout: bounds.redisConnectMs,
  ...(tls === null ? {} : { tls: true as const, ...tls }),
});

async function serverLink(address: RedisAddress, onReady: OnReady): Promise<NewLink> {
  const { createClient } = await library();
  const [node] = address.nodes;
  let wasReady = false;
  const client = createClient({
    ...address.account,
    database: address.database,
    disableOfflineQueue: true,
    RESP: 2,
    // The first connection must succeed; after that it reconnects forever.
    socket: {
      ...socketOf(address),
      ...node,
      reconnectStrategy: (tries: number, cause: Error) => (wasReady ? reconnectStrategy(tries) : cause),
    },
  });
  // Failures also reject what was sent. Without a listener they would end the process.
  client.on("error", () => undefined);
  client.on("ready", () => {
    wasReady = true;
    onReady();
  });
  const send = (_key: string, command: readonly string[]) => client.sendCommand<unknown>([...command]);
  return { connect: () => client.connect(), link: { send, close: () => client.destroy() } };
}

async function sentinelLink(address: RedisAddress, onReady: OnReady): Promise<NewLink> {
  const { createSentinel } = await library();
  const { nodes } = address;
  // Sentinels are tried in order. A random start avoids waiting for the same silent one each time.
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

async function clusterLink(address: RedisAddress, onReady: OnReady): Promise<NewLink> {
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
 * Opens links to one address. The library reconnects with the certificates that it was first given, so they are read from their files
 * for each link, and a link with outdated ones is replaced.
 */
export class RedisConnector {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #linkTls = new WeakMap<RedisLink, RedisAddress["tls"]>();
  #address: RedisAddress;

  /** Throws RedisUnusable if the address is invalid. */
  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
    this.#address = readRedisAddress(url);
  }

  get displayUrl(): string {
    return this.#address.displayUrl;
  }

  async open(onReady: OnReady): Promise<RedisLink> {
    this.#rereadAddress();
    const { tls } = this.#address;
    const late = new AbortController();
    const stop = afterRunningFor(this.#clock, bounds.redisConnectMs, () => late.abort());
    const link = await openRedisLink(this.#address, onReady, late.signal).finally(stop);
    this.#linkTls.set(link, tls);
    return link;
  }

  /** Returns the link, or null if its certificates are outdated; then it is closed. */
  keepIfCurrent(link: RedisLink | null): RedisLink | null {
    if (link === null || this.#address.tls === null || !this.#linkTls.has(link)) return link;
    this.#rereadAddress();
    if (isDeepStrictEqual(this.#linkTls.get(link), this.#address.tls)) return link;
    link.close();
    return null;
  }

  #rereadAddress(): void {
    if (this.#address.tls === null) return;
    try {
      this.#address = readRedisAddress(this.#url);
    } catch {
      // A file may be half written; it is read again for the next link.
    }
  }
}
