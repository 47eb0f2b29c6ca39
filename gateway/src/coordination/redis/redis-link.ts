import { bounds } from "#core/index.ts";

/** One way to a Redis: a server, a sentinel's master, or a cluster, whose scripts all go to the node of one key. */
export interface RedisLink {
  /** Sends one command; `key` says to which node. Rejects at once while there is no connection. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** Cuts the connection; what was sent and not answered rejects. */
  close(): void;
}

/** Told when a connection is there again. */
export type OnReady = () => void;

/**
 * `redis://` and `rediss://` (TLS), with user, password and database as usual. Behind `?`: `sentinel=<master's name>` (the
 * address is a sentinel's) or `cluster=true`; `node=host:port` names further sentinels or nodes, as often as there are any.
 * Rejects with one clear line, without the password.
 */
export async function openRedisLink(url: string, onReady: OnReady, signal: AbortSignal): Promise<RedisLink> {
  const target = readTarget(url);
  const { connect, link } = await makers[target.kind](target, onReady);
  try {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(new Error("it does not answer in time.")), { once: true });
    await Promise.race([connect(), promise]);
    return link;
  } catch (thrown) {
    link.close();
    throw new Error(`Redis at ${target.shown} cannot be used: ${reasonOf(thrown)}`);
  }
}

/** Loaded by whoever has a Redis: megabytes that the others have no use for. */
const library = () => import("@redis/client");

interface Target {
  readonly kind: "server" | "sentinel" | "cluster";
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly master: string;
  readonly account: { readonly username?: string; readonly password?: string };
  readonly database: number;
  readonly tls: boolean;
  /** The address without the account. */
  readonly shown: string;
}

function readTarget(text: string): Target {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["redis:", "rediss:"].includes(url.protocol) || url.hostname === "") {
    throw new Error("A Redis address begins with redis:// or rediss:// and names a host.");
  }
  const database = url.pathname === "" || url.pathname === "/" ? 0 : Number(url.pathname.slice(1));
  if (!Number.isInteger(database) || database < 0)
    throw new Error("The path of a Redis address is a database's number.");
  for (const name of url.searchParams.keys()) {
    if (!["sentinel", "cluster", "node"].includes(name))
      throw new Error(`A Redis address knows no parameter "${name}".`);
  }
  const master = url.searchParams.get("sentinel") ?? "";
  const isCluster = url.searchParams.get("cluster") === "true";
  if (isCluster && master !== "") throw new Error("A Redis address names a sentinel or a cluster, not both.");
  const kind = isCluster ? "cluster" : master === "" ? "server" : "sentinel";
  if (kind === "cluster" && database !== 0) throw new Error("A Redis cluster has no database but 0.");
  const more = url.searchParams.getAll("node");
  if (kind === "server" && more.length > 0) throw new Error("Further nodes belong to a sentinel or a cluster.");
  const portOf = (port: string): number => Number(port || (kind === "sentinel" ? 26_379 : 6_379));
  const nodes = [url.host, ...more].map((host) => {
    const node = URL.canParse(`redis://${host}`) ? new URL(`redis://${host}`) : null;
    if (node === null || node.hostname === "") throw new Error(`"${host}" is not the address of a Redis node.`);
    return { host: node.hostname.replace(/^\[|\]$/g, ""), port: portOf(node.port) };
  });
  const account = {
    ...(url.username === "" ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
  };
  const shown = `${url.protocol}//${url.host}${url.pathname}`;
  return { kind, nodes, master, account, database, tls: url.protocol === "rediss:", shown };
}

/** A link, and what connects it. */
interface Made {
  readonly connect: () => Promise<unknown>;
  readonly link: RedisLink;
}

const makers = { server: serverLink, sentinel: sentinelLink, cluster: clusterLink } as const;

/** The wait before the connection is tried again: the first, doubled each time up to the last. */
const reconnectStrategy = (tries: number): number =>
  Math.min(bounds.redisRetryMs * 2 ** Math.min(tries, 10), bounds.redisRetryMsMax);

const socketOf = ({ tls }: Target) => ({
  connectTimeout: bounds.redisConnectMs,
  ...(tls ? { tls: true as const } : {}),
});

async function serverLink(target: Target, onReady: OnReady): Promise<Made> {
  const { createClient } = await library();
  const [node] = target.nodes;
  let wasReady = false;
  const client = createClient({
    ...target.account,
    database: target.database,
    disableOfflineQueue: true,
    RESP: 2,
    // What fails at the first connection is told to whoever started the gateway; later it is tried for ever.
    socket: {
      ...socketOf(target),
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

async function sentinelLink(target: Target, onReady: OnReady): Promise<Made> {
  const { createSentinel } = await library();
  const sentinel = createSentinel({
    name: target.master,
    sentinelRootNodes: [...target.nodes],
    maxCommandRediscovers: 3,
    RESP: 2,
    nodeClientOptions: { ...target.account, database: target.database, socket: socketOf(target) },
    sentinelClientOptions: { socket: socketOf(target) },
  });
  sentinel.on("error", () => undefined);
  sentinel.on("topology-change", () => onReady());
  const send = (_key: string, command: readonly string[]) => sentinel.sendCommand<unknown>(false, [...command]);
  return { connect: () => sentinel.connect(), link: { send, close: () => sentinel.destroy() } };
}

async function clusterLink(target: Target, onReady: OnReady): Promise<Made> {
  const { createCluster } = await library();
  const cluster = createCluster({
    RESP: 2,
    rootNodes: target.nodes.map((node) => ({ socket: node })),
    defaults: {
      ...target.account,
      disableOfflineQueue: true,
      socket: { ...socketOf(target), reconnectStrategy },
    },
  });
  cluster.on("error", () => undefined);
  cluster.on("node-ready", () => onReady());
  const send = (key: string, command: readonly string[]) => cluster.sendCommand<unknown>(key, false, [...command]);
  return { connect: () => cluster.connect(), link: { send, close: () => cluster.destroy() } };
}

/** What a server or a socket said, in words an operator can act on. Never holds what was sent. */
export function reasonOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const words = message.match(/\b[A-Z]{4,}\b/g) ?? [];
  const known = words.find((word) => reasons[word] !== undefined);
  if (known !== undefined) return reasons[known] ?? "";
  // What begins with such a word is the server's own answer, which may quote what it was sent.
  const own = words[0];
  return own !== undefined && message.startsWith(own) ? `it answered ${own}.` : message;
}

const reasons: Readonly<Record<string, string>> = {
  WRONGPASS: "the user or password is wrong.",
  NOAUTH: "it asks for a password.",
  NOPERM:
    "its user may not do what is needed: all keys that begin with {sluice}: and @read @write @scripting +info +time.",
  READONLY: "it is a replica, which takes no writes.",
  ECONNREFUSED: "nothing listens there.",
  ENOTFOUND: "its host name is unknown.",
  ETIMEDOUT: "it does not answer.",
};
