import { dns } from "bun";
import { BoundedMap, bounds, type Failure, within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type AddressKind, worstKind } from "./address-kind.ts";
import { unsentFailure } from "./send-failure.ts";

/** Returns every address of a name, in order of preference. An empty list or a rejection means that the name was not found. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

interface Entry {
  addresses: readonly string[];
  foundAtMs: number;
  retryAtMs: number;
  pending: Promise<void> | null;
}

/**
 * Caches addresses of names. Entries are renewed before they expire, so that calls do not wait. While lookups fail the last
 * addresses are used, so that a dead resolver does not stop calls.
 */
export class NameCache {
  readonly #entries = new BoundedMap<string, Entry>(bounds.namesMax);
  readonly #clock: Clock;
  readonly #resolve: Resolve;

  constructor(clock: Clock, resolve: Resolve) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** Returns no promise if the name is cached. Throws (or rejects with) upstream_unreachable. */
  find(hostname: string): readonly string[] | Promise<readonly string[]> {
    const entry = this.#entries.get(hostname) ?? this.#add(hostname);
    const nowMs = this.#clock.monotonic();
    const ageMs = nowMs - entry.foundAtMs;
    if (ageMs >= bounds.nameRenewMs && nowMs >= entry.retryAtMs) entry.pending ??= this.#renew(hostname, entry);
    if (ageMs < bounds.nameFreshMs) return entry.addresses;
    const stale = usableStale(entry, nowMs);
    if (stale !== null && entry.retryAtMs > 0) return stale;
    if (entry.pending === null) throw notFound(hostname);
    return entry.pending.then(() => {
      const found = usableStale(entry, this.#clock.monotonic());
      if (found === null) throw notFound(hostname);
      return found;
    });
  }

  #add(hostname: string): Entry {
    const entry: Entry = { addresses: [], foundAtMs: Number.NEGATIVE_INFINITY, retryAtMs: 0, pending: null };
    this.#entries.set(hostname, entry);
    return entry;
  }

  /** Never rejects. `retryAtMs` is 0 while lookups succeed. */
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

/** Rejects if the name is not found in time. */
async function lookUp(hostname: string, resolve: Resolve, clock: Clock): Promise<readonly string[]> {
  const found = await within(clock, bounds.nameLookupMs, resolve(hostname), () => []);
  if (found.length === 0) throw new Error("not found, or not in time");
  return found;
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
 * The machine's resolver, with Bun's asynchronous client, so that a dead name server blocks no thread. IPv4 comes first, because
 * families are not raced and a broken IPv6 route is the more common fault.
 */
export async function systemResolve(hostname: string): Promise<readonly string[]> {
  const found = await dns.lookup(hostname, { family: 0 });
  const addresses = found.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
  return [...new Set(addresses)];
}

interface Verdict {
  /** null: the first lookup is under way. */
  kind: AddressKind | null;
  renewAtMs: number;
  pending: Promise<AddressKind> | null;
}

/**
 * Judges names that a proxy will resolve, by this machine's own resolver: a name with a private address is private, and a name that is
 * not found here counts as public. In a closed network the resolver may find no public name or never answer; then only one call in a
 * while waits for it.
 */
export class NameVerdicts {
  readonly #verdicts = new BoundedMap<string, Verdict>(bounds.namesMax);
  readonly #clock: Clock;
  readonly #resolve: Resolve;

  constructor(clock: Clock, resolve: Resolve) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** Never rejects. */
  async find(hostname: string): Promise<AddressKind> {
    if (isLocalName(hostname)) return "private";
    const verdict = this.#verdicts.get(hostname) ?? { kind: null, renewAtMs: 0, pending: null };
    this.#verdicts.set(hostname, verdict);
    if (this.#clock.monotonic() >= verdict.renewAtMs) verdict.pending ??= this.#renew(hostname, verdict);
    return verdict.kind ?? (await verdict.pending) ?? "public";
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

/** Suffixes that no public name has (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and names of clouds and clusters). */
const localSuffixes = [".localhost", ".local", ".localdomain", ".internal", ".home.arpa", ".lan", ".intranet", ".corp"];

/** Whether the name belongs to the proxy's network: it has no dot, or a local suffix. */
function isLocalName(hostname: string): boolean {
  return !hostname.includes(".") || localSuffixes.some((suffix) => hostname.endsWith(suffix));
}
