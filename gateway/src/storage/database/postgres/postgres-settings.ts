import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { bounds } from "#core/index.ts";

const postgresPoolSizeMax = 100;
/** Connection timeout. */
const postgresConnectMs = 10_000;
const postgresConnectMsMax = 120_000;
/** Statement timeout. */
const postgresStatementMs = 30_000;
const postgresStatementMsMax = 3_600_000;

/** The configuration of PostgreSQL does not work. The message is one line, without credentials. */
export class PostgresUnusable extends Error {
  override readonly name = "PostgresUnusable";
}

/** The parsed address of a server. */
export interface PostgresSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: ConnectionOptions | false;
  readonly poolSize: number;
  readonly connectMs: number;
  readonly statementMs: number;
  readonly applicationName: string;
  /** `sluice on db.example:5432`. */
  readonly place: string;
}

/**
 * Reads `postgres://user:password@host:port/database?…`. Parameters as in libpq (`sslmode`, `sslrootcert`, `connect_timeout` in seconds,
 * `application_name`), plus `pool_size` and `statement_timeout` (milliseconds). Throws PostgresUnusable.
 */
export function postgresSettings(address: string): PostgresSettings {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new PostgresUnusable(
      "The address of PostgreSQL is not a URL such as postgres://user:password@host:5432/name.",
    );
  }
  const parameters = parametersOf(url);
  const socket = decoded(url.hostname);
  const host = socket.startsWith("/") ? socket : (parameters.get("host") ?? unbracketed(socket));
  const database = decoded(url.pathname.slice(1));
  if (host === "") throw new PostgresUnusable("The address of PostgreSQL names no host.");
  if (database === "") throw new PostgresUnusable("The address of PostgreSQL names no database: …@host:5432/name.");
  if (url.username === "")
    throw new PostgresUnusable("The address of PostgreSQL names no user: postgres://user:…@host/name.");
  const port = url.port === "" ? 5432 : Number(url.port);
  return Object.freeze({
    host,
    port,
    user: decoded(url.username),
    password: decoded(url.password),
    database,
    tls: tlsOf(host, parameters),
    poolSize: numberOf(parameters, "pool_size", bounds.postgresPoolSize, postgresPoolSizeMax),
    connectMs: numberOf(parameters, "connect_timeout", postgresConnectMs / 1_000, postgresConnectMsMax / 1_000) * 1_000,
    statementMs: numberOf(parameters, "statement_timeout", postgresStatementMs, postgresStatementMsMax),
    applicationName: parameters.get("application_name") ?? "sluice",
    place: `${database} on ${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
  });
}

const supported: ReadonlySet<string> = new Set([
  "sslmode",
  "sslrootcert",
  "host",
  "connect_timeout",
  "application_name",
  "pool_size",
  "statement_timeout",
]);

function parametersOf(url: URL): ReadonlyMap<string, string> {
  const unknown = [...url.searchParams.keys()].filter((name) => !supported.has(name));
  if (unknown.length > 0) {
    const names = [...supported].join(", ");
    throw new PostgresUnusable(
      `The address of PostgreSQL has the unknown parameter ${unknown[0]}; supported are ${names}.`,
    );
  }
  return new Map(url.searchParams);
}

/**
 * `disable`: none. `require`: unverified. `verify-ca`: any certificate of a trusted authority. `verify-full`: a certificate for the host
 * name; the default except for local hosts.
 */
function tlsOf(host: string, parameters: ReadonlyMap<string, string>): ConnectionOptions | false {
  const mode = parameters.get("sslmode") ?? (isThisMachine(host) ? "disable" : "verify-full");
  const root = parameters.get("sslrootcert");
  const authority = root === undefined ? {} : { ca: certificateIn(root) };
  switch (mode) {
    case "disable":
      return false;
    case "require":
      // As in libpq, naming an authority enables verification.
      return root === undefined ? { rejectUnauthorized: false } : { ...authority, ...anyName };
    case "verify-ca":
      return { ...authority, ...anyName };
    case "verify-full":
      return { ...authority, rejectUnauthorized: true, servername: isIP(host) === 0 ? host : "" };
    default:
      throw new PostgresUnusable(`sslmode=${mode} is none of disable, require, verify-ca and verify-full.`);
  }
}

const anyName = { rejectUnauthorized: true, checkServerIdentity: () => undefined } as const;

function certificateIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new PostgresUnusable(`The root certificate ${path} (sslrootcert) cannot be read.`, { cause });
  }
}

function isThisMachine(host: string): boolean {
  return host.startsWith("/") || host === "localhost" || host === "::1" || /^127\./.test(host);
}

function numberOf(parameters: ReadonlyMap<string, string>, name: string, usual: number, max: number): number {
  const text = parameters.get(name);
  if (text === undefined) return usual;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > max) {
    throw new PostgresUnusable(`${name} in the address of PostgreSQL must be an integer from 1 to ${max}.`);
  }
  return value;
}

function unbracketed(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new PostgresUnusable("The address of PostgreSQL has a percent sign that escapes nothing: write it as %25.");
  }
}
