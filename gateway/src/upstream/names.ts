import { dns } from "bun";
import { BoundedMap, bounds, type Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type AddressKind, worstKind } from "./address-kind.ts";
import { unsentFailure } from "./send-failure.ts";

/** Every address of a name, in order of preference. An empty list or a rejection means that the name was not found. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

interface Entry {
  addresses: readonly string[];
  foundAtMs: number;
  retryAtMs: number;
  pending: Promise<void> | null;
}

/**
 * Names already looked up. A dead resolver must not stop calls to upstreams that were known a minute ago, nor may each
 * call wait for it: names are renewed ahead of their end, and while look-ups fail the last known addresses serve on.
 */
export class NameCache {
  readonly #entries = new BoundedMap<string, Entry>(bounds.namesMax);
  readonly #clock: Clock;
  readonly #resolve: Resolve;

  constructor(clock: Clock, resolve: Resolve) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** At once when known, else a promise; throws (or rejects with) upstream_unreachable. */
  find(hostname: string): readonly string[] | Promise<readonly string[]> {
    const entry = this.#entries.get(hostname) ?? this.#add(hostname);
    const nowMs = this.#clock.monotonic();
    const ageMs = nowMs - entry.foundAtMs;
    if (ageMs >= bounds.nameRenewMs && nowMs >= entry.retryAtMs) entry.pending ??= this.#renew(hostname, entry);
    if (ageMs < bounds.nameFreshMs) return entry.addresses;
    const stale = usableStale(entry, nowMs);
    if (stale !== null && entry.retryAtMs > 0) return stale;
    if (entry.pending === null) throw notFound(hostname);
    return entry.pending.then(() => this.#afterRenewal(hostname, entry));
  }

  #add(hostname: string): Entry {
    const entry: Entry = { addresses: [], foundAtMs: Number.NEGATIVE_INFINITY, retryAtMs: 0, pending: null };
    this.#entries.set(hostname, entry);
    return entry;
  }

  #afterRenewal(hostname: string, entry: Entry): readonly string[] {
    const stale = usableStale(entry, this.#clock.monotonic());
    if (stale === null) throw notFound(hostname);
    return stale;
  }

  /** Never rejects. `retryAtMs` is 0 while look-ups succeed. */
  async #renew(hostname: string, entry: Entry): Promise<void> {
    try {
      const found = await lookUp(hostname, this.#resolve, this.#clock);
      entry.addresses = found;
      entry.foundAtMs = this.#clock.monotonic();
      entry.retryAtMs = 0;
    } catch {
      entry.retryAtMs = this.#clock.monotonic() + bounds.nameRetryMs;
    }
    entry.pending = null;
  }
}

/** Rejects where the name is not found in time. */
function lookUp(hostname: string, resolveName: Resolve, clock: Clock): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(bounds.nameLookupMs, () => reject(new Error("look-up timed out")));
    resolveName(hostname)
      .then((found) => (found.length > 0 ? resolve(found) : reject(new Error("no addresses"))), reject)
      .finally(cancel);
  });
}

function usableStale(entry: Entry, nowMs: number): readonly string[] | null {
  const usable = nowMs - entry.foundAtMs < bounds.nameFreshMs + bounds.nameStaleMs;
  return usable ? entry.addresses : null;
}

function notFound(hostname: string): Failure {
  const cause = new Error(`no address found for ${hostname}`);
  return unsentFailure("The upstream's name could not be resolved.", "name", cause);
}

/**
 * The machine's resolver, over Bun's asynchronous client: a dead name server must not block the threads that do the
 * other work. IPv4 first, because families are not raced and a broken IPv6 route is the commoner fault.
 */
export async function systemResolve(hostname: string): Promise<readonly string[]> {
  const found = await dns.lookup(hostname, { family: 0 });
  const addresses = found.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
  return [...new Set(addresses)];
}

interface Verdict {
  /** null: the first look-up is under way. */
  kind: AddressKind | null;
  renewAtMs: number;
  pending: Promise<AddressKind> | null;
}

/**
 * What this machine's own resolver says of names that a proxy will look up. A name that leads to a private address here is
 * private; what is not known here is for the proxy alone to judge. In a closed network the resolver knows no name of the
 * outside, or never answers: then one call in a while waits for it, and no other.
 */
export class NameVerdicts {
  readonly #known = new BoundedMap<string, Verdict>(bounds.namesMax);
  readonly #clock: Clock;
  readonly #resolve: Resolve;

  constructor(clock: Clock, resolve: Resolve) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** At once when known, else a promise, which never rejects. */
  find(hostname: string): AddressKind | Promise<AddressKind> {
    const looks = kindOfName(hostname);
    if (looks !== "public") return looks;
    const verdict = this.#known.get(hostname) ?? this.#add(hostname);
    if (this.#clock.monotonic() >= verdict.renewAtMs) verdict.pending ??= this.#renew(hostname, verdict);
    return verdict.kind ?? verdict.pending ?? "public";
  }

  #add(hostname: string): Verdict {
    const verdict: Verdict = { kind: null, renewAtMs: 0, pending: null };
    this.#known.set(hostname, verdict);
    return verdict;
  }

  async #renew(hostname: string, verdict: Verdict): Promise<AddressKind> {
    const addresses = await lookUp(hostname, this.#resolve, this.#clock).catch(() => []);
    const kind = worstKind(addresses);
    verdict.kind = kind;
    verdict.renewAtMs = this.#clock.monotonic() + (addresses.length > 0 ? bounds.nameFreshMs : bounds.nameStaleMs);
    verdict.pending = null;
    return kind;
  }
}

/** Endings that no public name has (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and what clouds and clusters use). */
const ownEndings = [".localhost", ".local", ".localdomain", ".internal", ".home.arpa", ".lan", ".intranet", ".corp"];

/** A name without a dot, or under such an ending, is some machine's of the proxy's own network. */
function kindOfName(hostname: string): AddressKind {
  if (!hostname.includes(".") || ownEndings.some((ending) => hostname.endsWith(ending))) return "private";
  return "public";
}
