import { readFileSync } from "node:fs";

/** The parsed `SLUICE_REDIS_URL`. */
export interface RedisAddress {
  readonly kind: "server" | "sentinel" | "cluster";
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The master's name at the sentinels. */
  readonly master: string;
  readonly account: RedisAccount;
  readonly sentinelAccount: RedisAccount;
  readonly database: number;
  /** null: no TLS. */
  readonly tls: RedisTls | null;
  /** Without credentials. */
  readonly displayUrl: string;
}

interface RedisAccount {
  readonly username?: string;
  readonly password?: string;
}

/** PEM texts. `ca` replaces the well-known authorities. */
interface RedisTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The address, account, certificate or version is wrong; retrying is pointless. The message is one line. */
export class RedisUnusable extends Error {
  override readonly name = "RedisUnusable";
}

const parameters = [
  "addr",
  "cluster",
  "master_name",
  "sentinel_username",
  "sentinel_password",
  "ssl_ca_certs",
  "ssl_certfile",
  "ssl_keyfile",
];

/**
 * `redis://` and `rediss://` (TLS), with user, password and database as usual. Parameters, named as in go-redis and redis-py:
 * `master_name=<name>` (the address is a sentinel's) or `cluster=true`; `addr=host:port` for each further sentinel or node;
 * `sentinel_username` and `sentinel_password`; `ssl_ca_certs`, `ssl_certfile` and `ssl_keyfile` are paths of PEM files.
 * Throws RedisUnusable, without secrets.
 */
export function readRedisAddress(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["redis:", "rediss:"].includes(url.protocol) || url.hostname === "") {
    throw new RedisUnusable("A Redis address begins with redis:// or rediss:// and names a host.");
  }
  const database = url.pathname === "" || url.pathname === "/" ? 0 : Number(url.pathname.slice(1));
  if (!Number.isInteger(database) || database < 0) {
    throw new RedisUnusable("The path of a Redis address must be a database number.");
  }
  const given = url.searchParams;
  for (const name of given.keys()) {
    if (!parameters.includes(name)) {
      throw new RedisUnusable(`Unknown parameter "${name}" in a Redis address; supported: ${parameters.join(", ")}.`);
    }
  }
  const master = given.get("master_name") ?? "";
  const isCluster = switchOf(given.get("cluster"));
  if (isCluster && master !== "") throw new RedisUnusable("A Redis address names a sentinel or a cluster, not both.");
  const kind = isCluster ? "cluster" : master === "" ? "server" : "sentinel";
  if (kind === "cluster" && database !== 0) throw new RedisUnusable("A Redis cluster has only database 0.");
  const more = given.getAll("addr");
  if (kind === "server" && more.length > 0) {
    throw new RedisUnusable("addr names further sentinels or nodes: set master_name or cluster=true with it.");
  }
  return {
    kind,
    nodes: [url.host, ...more].map((host) => nodeOf(host, kind === "sentinel" ? 26_379 : 6_379)),
    master,
    account: accountOf(decoded(url.username), decoded(url.password)),
    sentinelAccount: accountOf(given.get("sentinel_username") ?? "", given.get("sentinel_password") ?? ""),
    database,
    tls: tlsOf(url.protocol === "rediss:", given),
    displayUrl: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

function switchOf(value: string | null): boolean {
  if (value === null || value === "false") return false;
  if (value === "true") return true;
  throw new RedisUnusable("cluster of a Redis address is true or false.");
}

function nodeOf(host: string, usualPort: number): RedisAddress["nodes"][number] {
  const url = URL.canParse(`redis://${host}`) ? new URL(`redis://${host}`) : null;
  if (url === null || url.hostname === "" || url.host !== host) {
    throw new RedisUnusable("addr of a Redis address is host:port, without anything else.");
  }
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || usualPort) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisUnusable("User and password of a Redis address are percent-encoded; a lone % is written %25.");
  }
}

function accountOf(username: string, password: string): RedisAccount {
  return { ...(username === "" ? {} : { username }), ...(password === "" ? {} : { password }) };
}

function tlsOf(isTls: boolean, given: URLSearchParams): RedisTls | null {
  if (!isTls) {
    if (!["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"].some((name) => given.has(name))) return null;
    throw new RedisUnusable("A Redis address with certificates begins with rediss://.");
  }
  const ca = pemOf(given, "ssl_ca_certs");
  const cert = pemOf(given, "ssl_certfile");
  const key = pemOf(given, "ssl_keyfile");
  if ((cert === null) !== (key === null)) throw new RedisUnusable("ssl_certfile and ssl_keyfile belong together.");
  return { ...(ca === null ? {} : { ca }), ...(cert === null || key === null ? {} : { cert, key }) };
}

function pemOf(given: URLSearchParams, name: string): string | null {
  const path = given.get(name);
  if (path === null) return null;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new RedisUnusable(`Cannot read ${path}, the ${name} of the Redis address.`);
  }
  if (!text.includes("-----BEGIN ")) throw new RedisUnusable(`${path}, the ${name} of the Redis address, is not PEM.`);
  return text;
}
