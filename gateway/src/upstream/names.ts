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

  /**
   * The kind of a name that a proxy will resolve, by this machine's own resolver: a name with a private address is private, and a name
   * that is not found here counts as public. In a closed network the resolver may find no public name or never answer; then only the
   * first call waits for it. Never rejects.
   */
  async kindOf(hostname: string): Promise<AddressKind> {
    if (isLocalName(hostname)) return "private";
    const entry = this.#entries.get(hostname) ?? this.#add(hostname);
    const nowMs = this.#clock.monotonic();
    const failedMs = entry.retryAtMs - bounds.nameRetryMs;
    const isDue =
      entry.retryAtMs > 0 ? nowMs - failedMs >= bounds.nameStaleMs : nowMs - entry.foundAtMs >= bounds.nameFreshMs;
    if (isDue) entry.pending ??= this.#renew(hostname, entry);
    // Addresses that are too old must not count as not found.
    if (entry.retryAtMs === 0 && usableStale(entry, nowMs) === null) await entry.pending;
    return worstKind(usableStale(entry, this.#clock.monotonic()) ?? []);
  }

  #add(hostname: string): Entry {
    const entry: Entry = { addresses: [], foundAtMs: Number.NEGATIVE_INFINITY, retryAtMs: 0, pending: null };
    this.#entries.set(hostname, entry);
    return entry;
  }

  /** Never rejects. `retryAtMs` is 0 while lookups succeed. */
  async #renew(hostname: string, entry: Entry): Promise<void> {
    const lookup = within(this.#clock, bounds.nameLookupMs, this.#resolve(hostname), () => []);
    const found = await lookup.catch(() => []);
    const nowMs = this.#clock.monotonic();
    if (found.length > 0) {
      entry.addresses = found;
      entry.foundAtMs = nowMs;
    }
    entry.retryAtMs = found.length > 0 ? 0 : nowMs + bounds.nameRetryMs;
    entry.pending = null;
  }
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

/** Suffixes that no public name has (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and names of clouds and clusters). */
const localSuffixes = [".localhost", ".local", ".localdomain", ".internal", ".home.arpa", ".lan", ".intranet", ".corp"];

/** Whether the name belongs to the proxy's network: it has no dot, or a local suffix. */
function isLocalName(hostname: string): boolean {
  return !hostname.includes(".") || localSuffixes.some((suffix) => hostname.endsWith(suffix));
}
