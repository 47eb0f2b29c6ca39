import { RedisUnusable } from "./redis-address.ts";

/** What a server or a socket said, in words an operator can act on. Never holds what was sent. */
export function reasonOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof RedisUnusable) return message;
  const known = knownIn(thrown, message);
  if (known !== undefined) return known.words;
  // What begins with such a word is the server's own answer, which may quote what it was sent.
  const own = message.match(/\b[A-Z]{4,}\b/)?.[0];
  return own !== undefined && message.startsWith(own) ? `it answered ${own}.` : message;
}

/** No later try would do: somebody has to change the address, the account, a certificate or the server. */
export function isLasting(thrown: unknown): boolean {
  if (thrown instanceof RedisUnusable) return true;
  return knownIn(thrown, thrown instanceof Error ? thrown.message : "")?.lasting === true;
}

interface Reason {
  readonly words: string;
  readonly lasting: boolean;
}

function knownIn(thrown: unknown, message: string): Reason | undefined {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const words = [code, ...(message.match(/\b[A-Z][A-Z_]{3,}\b/g) ?? [])];
  // What a script may not do is told in the words of the server, without a code (7.0 and later).
  if (/\bACL failure in script\b|\buser executing the script\b/.test(message)) return reasons["NOPERM"];
  const found = words.map((word) => reasons[word]).find((reason) => reason !== undefined);
  if (found !== undefined) return found;
  return /certificate|self[- ]signed/i.test(message) ? untrusted : undefined;
}

const lasting = (words: string): Reason => ({ words, lasting: true });
const passing = (words: string): Reason => ({ words, lasting: false });

const untrusted = lasting("its certificate is not believed; name its authority with ssl_ca_certs.");

const reasons: Readonly<Record<string, Reason>> = {
  WRONGPASS: lasting("the user or password is wrong."),
  NOAUTH: lasting("it asks for a password."),
  NOPERM: lasting(
    "its user may not do what is needed: all keys that begin with {sluice}: and @read @write @scripting +info +time.",
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: lasting("its certificate has expired."),
  ERR_TLS_CERT_ALTNAME_INVALID: lasting("its certificate is for another host name."),
  READONLY: passing("it is a replica, which takes no writes."),
  LOADING: passing("it is still loading what it has stored."),
  CLUSTERDOWN: passing("its cluster does not serve all slots."),
  MISCONF: passing("it cannot store what it has (its disk), and takes no writes."),
  OOM: passing("its memory is full."),
  ECONNREFUSED: passing("nothing listens there."),
  ECONNRESET: passing("it cut the connection."),
  ENOTFOUND: passing("its host name is unknown."),
  ETIMEDOUT: passing("it does not answer."),
};

/** Why a counter that another installation counts in is not used. */
export const ofOthers =
  "another installation counts in it: give each a Redis, or a database of one (redis://…/1), of its own. It is free half a minute after the other has left.";
