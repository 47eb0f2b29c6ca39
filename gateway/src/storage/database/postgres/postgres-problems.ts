import { bounds, Failure, messageOf } from "#core/index.ts";
import { type PostgresSettings, PostgresUnusable } from "./postgres-settings.ts";

/** Why connecting failed, in one line. */
export function connectProblem(thrown: unknown, settings: PostgresSettings): PostgresUnusable {
  const { place, host, database } = settings;
  const server = `PostgreSQL (${place})`;
  const code = codeOf(thrown);
  const explanations: Readonly<Record<string, string>> = {
    ECONNREFUSED: `${server} refuses connections: it does not run there, or listens elsewhere.`,
    ENOENT: `${server} has no socket there: it does not run, or listens elsewhere.`,
    ENOTFOUND: `${server}: there is no host ${host}.`,
    EAI_AGAIN: `${server}: the name ${host} cannot be resolved now.`,
    EHOSTUNREACH: `${server} cannot be reached.`,
    ENETUNREACH: `${server} cannot be reached.`,
    ETIMEDOUT: `${server} does not answer.`,
    "28P01": `${server} refuses this user or password.`,
    "28000": `${server} lets this user in neither from here nor this way; see its pg_hba.conf.`,
    "3D000": `There is no database ${database} on this server: create it first (createdb ${database}).`,
    "42501": `${server} does not give this user the rights that are needed.`,
    "53300": `${server} has no connection left for this user.`,
    "57P03": `${server} is starting or stopping; try again.`,
    ERR_TLS_CERT_ALTNAME_INVALID: `${server} shows a certificate for another name than ${host}.`,
    CERT_HAS_EXPIRED: `${server} shows a certificate that has expired.`,
  };
  const line =
    explanations[code] ??
    (isUntrusted(code)
      ? `${server} shows a certificate of an unknown authority; name its root certificate (sslrootcert), or set sslmode=require.`
      : null);
  return new PostgresUnusable(line ?? `${server} cannot be used: ${messageOf(thrown)}`, { cause: thrown });
}

/**
 * Maps lost connections, server shutdown, timeouts, serialization conflicts, and missing disk space or memory to storage_unavailable
 * (nothing was done). Other errors stay as they are.
 */
export function statementProblem(thrown: unknown, statementMs: number): unknown {
  const code = codeOf(thrown);
  if (code === "57014") return unavailable(`The database took longer than ${statementMs / 1_000} s.`, thrown);
  if (code === "40P01" || code === "40001" || code === "55P03") {
    return unavailable("The database was busy with something that goes against this.", thrown);
  }
  if (isOutOfResources(code, messageOf(thrown))) {
    return unavailable("The database has no disk space or memory left, or its disk fails.", thrown);
  }
  return endsConnection(thrown) ? unavailable("The connection to the database was lost.", thrown) : thrown;
}

/** Classes 53 (insufficient resources) and 58 (system error). A limit of file sizes has no code. */
function isOutOfResources(code: string, message: string): boolean {
  return /^5[38]/.test(code) || (code === "XX000" && message.startsWith("could not write"));
}

/** Missing rights as one line; other errors unchanged. */
export function rightsProblem(thrown: unknown, { place }: PostgresSettings): unknown {
  if (codeOf(thrown) !== "42501") return thrown;
  const line = `PostgreSQL (${place}) does not give this user the rights that are needed: ${messageOf(thrown)}.`;
  return new PostgresUnusable(line, { cause: thrown });
}

/** The connection is unusable. Errors without a server code come from the connection. */
export function endsConnection(thrown: unknown): boolean {
  return !/^[0-9A-Z]{5}$/.test(codeOf(thrown)) || /^(08|57P0|25P03)/.test(codeOf(thrown));
}

/** The server or an administrator closed an established connection; new ones may work. */
export function wasCut(thrown: unknown): boolean {
  return /^(57P0[12]|ECONNRESET|EPIPE)$/.test(codeOf(thrown));
}

export function unavailable(message: string, cause: unknown): Failure {
  return new Failure("storage_unavailable", `${message} Try again.`, { cause, retryAfterMs: 1_000 });
}

/** Fails without asking while the breaker is open; the watch keeps trying. */
export function unreachable(): Failure {
  return new Failure("storage_unavailable", "The database does not answer. Try again.", {
    retryAfterMs: bounds.postgresPingMs,
  });
}

/** The server has no free connection. */
export function isFull(thrown: unknown): boolean {
  return codeOf(thrown) === "53300";
}

/** Connecting timed out; the driver's error has no code. */
export function isSilent(thrown: unknown): boolean {
  return /^(ETIMEDOUT)?$/.test(codeOf(thrown));
}

function isUntrusted(code: string): boolean {
  return /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/.test(code);
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  // All addresses of a host failed.
  if (thrown instanceof AggregateError) return codeOf(thrown.errors[0]);
  return codeOf(thrown.cause);
}
