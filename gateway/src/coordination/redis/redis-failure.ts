import { messageOf } from "#core/index.ts";
import { RedisUnusable } from "./redis-address.ts";

/** Describes an error of the server or socket for operators. Never contains data that was sent. */
export function redisFailureReason(thrown: unknown): string {
  const message = messageOf(thrown);
  if (thrown instanceof RedisUnusable) return message;
  const reason = findReason(thrown, message);
  if (reason !== undefined) return reason.words;
  // A message that begins with a code is the server's, which may quote what it was sent.
  const own = message.match(/\b[A-Z]{4,}\b/)?.[0];
  return own !== undefined && message.startsWith(own) ? `it answered ${own}.` : message;
}

/** Retrying is pointless: the address, account, certificate or server has to be changed. */
export function isPermanent(thrown: unknown): boolean {
  if (thrown instanceof RedisUnusable) return true;
  return findReason(thrown, thrown instanceof Error ? thrown.message : "")?.isPermanent === true;
}

interface Reason {
  readonly words: string;
  readonly isPermanent: boolean;
}

function findReason(thrown: unknown, message: string): Reason | undefined {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const words = [code, ...(message.match(/\b[A-Z][A-Z_]{3,}\b/g) ?? [])];
  // Servers report a command that a script may not run without a code (7.0 and later).
  if (/\bACL failure in script\b|\buser executing the script\b/.test(message)) return reasons["NOPERM"];
  const found = words.map((word) => reasons[word]).find((reason) => reason !== undefined);
  if (found !== undefined) return found;
  return /certificate|self[- ]signed/i.test(message) ? untrusted : undefined;
}

const permanent = (words: string): Reason => ({ words, isPermanent: true });
const temporary = (words: string): Reason => ({ words, isPermanent: false });

const untrusted = permanent("its certificate is not trusted; name its authority with ssl_ca_certs.");

const reasons: Readonly<Record<string, Reason>> = {
  WRONGPASS: permanent("the user or password is wrong."),
  NOAUTH: permanent("it requires a password."),
  NOPERM: permanent(
    "its user lacks permissions: it needs all keys that begin with {sluice}: and @read @write @scripting +info +time.",
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: permanent("its certificate has expired."),
  ERR_TLS_CERT_ALTNAME_INVALID: permanent("its certificate is for another host name."),
  READONLY: temporary("it is a replica and rejects writes."),
  LOADING: temporary("it is still loading its data."),
  CLUSTERDOWN: temporary("its cluster does not serve all slots."),
  MISCONF: temporary("it cannot save to disk and rejects writes."),
  OOM: temporary("its memory is full."),
  ECONNREFUSED: temporary("connection refused."),
  ECONNRESET: temporary("connection reset."),
  ENOTFOUND: temporary("host not found."),
  ETIMEDOUT: temporary("connection timed out."),
};

export const notOurScript = "its answer is not that of our scripts.";

export const otherInstallationReason =
  "another installation uses it. Give each installation its own Redis or database (redis://…/1). It is released half a minute after the other stops.";
