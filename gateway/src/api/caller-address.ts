import ipaddr from "ipaddr.js";
import { BoundedMap, type HeaderReader } from "#core/index.ts";
import { addressAllowed } from "#identity/index.ts";
import type { Observer } from "#ports/index.ts";

/** Proxies in one header, pairs in one of its elements, and cached addresses. */
const proxyHopsMax = 16;
const forwardedPairsMax = 8;
const addressesCachedMax = 4_096;
/** Requests that are checked for a proxy that is not configured. */
const proxyChecksMax = 10_000;

/**
 * The caller's address behind proxies. Each proxy appends its peer to `Forwarded` (RFC 7239) or `X-Forwarded-For`, so the header is
 * read from its end, through the proxies that we trust. Entries that the caller wrote itself come before those and are never used.
 */
export class CallerAddress {
  readonly #trusted: readonly string[];
  readonly #observer: Pick<Observer, "log">;
  readonly #proxies = new BoundedMap<string, boolean>(addressesCachedMax);
  readonly #peers = new BoundedMap<string, string>(addressesCachedMax);
  #checksLeft: number = proxyChecksMax;
  #disagreementLogged = false;

  /** `trustedProxies`: addresses and ranges; empty: the headers are ignored. */
  constructor(trustedProxies: readonly string[], observer: Pick<Observer, "log">) {
    this.#trusted = trustedProxies;
    this.#observer = observer;
  }

  /** `peer`: the other end of the connection; empty if it is gone already. */
  of(peer: string, headers: HeaderReader): string {
    const nearest = this.#normalize(peer);
    if (this.#trusted.length === 0 || !this.#isProxy(nearest)) {
      if (this.#checksLeft > 0) this.#warnOfProxy(nearest, headers);
      return nearest;
    }
    const forwarded = headers.get("forwarded");
    const forwardedFor = headers.get("x-forwarded-for");
    const byForwarded = forwarded === null ? null : this.#walk(nearest, forwarded, nodeOfElement);
    const byForwardedFor =
      forwardedFor === null ? null : this.#walk(nearest, forwardedFor, (element) => element.trim());
    if (byForwarded === null || byForwardedFor === null) return byForwarded ?? byForwardedFor ?? nearest;
    if (byForwarded === byForwardedFor) return byForwarded;
    // A proxy maintains one of the two and forwards the other as its caller wrote it. It is unknown which.
    if (!this.#disagreementLogged) {
      this.#disagreementLogged = true;
      const message = "Forwarded and X-Forwarded-For disagree; using the proxy's address. Have the proxy remove one.";
      this.#observer.log("warn", message, { proxy: nearest });
    }
    return nearest;
  }

  #normalize(peer: string): string {
    const cached = this.#peers.get(peer);
    if (cached !== undefined) return cached;
    const address = plainAddress(peer) ?? peer;
    this.#peers.set(peer, address);
    return address;
  }

  #walk(peer: string, line: string, nodeOf: (element: string) => string | null): string {
    let nearest = peer;
    let end = line.length;
    for (let hop = 0; hop < proxyHopsMax && end >= 0; hop++) {
      const comma = end === 0 ? -1 : line.lastIndexOf(",", end - 1);
      const node = nodeOf(line.slice(comma + 1, end));
      // Behind a hidden or unreadable address nothing can be trusted.
      const address = node === null ? null : plainAddress(node);
      if (address === null) return nearest;
      nearest = address;
      if (!this.#isProxy(address)) return nearest;
      end = comma;
    }
    return nearest;
  }

  #isProxy(address: string): boolean {
    const cached = this.#proxies.get(address);
    if (cached !== undefined) return cached;
    const trusted = addressAllowed(this.#trusted, address);
    this.#proxies.set(address, trusted);
    return trusted;
  }

  /** Warns of a proxy that is not configured: every caller would appear with its address. */
  #warnOfProxy(peer: string, headers: HeaderReader): void {
    this.#checksLeft--;
    if (!headers.has("x-forwarded-for") && !headers.has("forwarded")) return;
    if (!ipaddr.isValid(peer) || ipaddr.process(peer).range() === "unicast") return;
    this.#checksLeft = 0;
    const message =
      "Ignoring the caller's address from an untrusted proxy. If the proxy is yours, set SLUICE_TRUSTED_PROXIES to its address. " +
      "Until then allowed addresses, throttles and the audit log use the proxy's address, and all of its callers share one limit.";
    this.#observer.log("warn", message, { proxy: peer });
  }
}

/** `for=` of one element (RFC 7239, 4). Quoted pairs and commas inside quotes are not supported: no proxy writes them. */
function nodeOfElement(element: string): string | null {
  for (const pair of element.split(";", forwardedPairsMax)) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim().toLowerCase() !== "for") continue;
    const value = pair.slice(equals + 1).trim();
    return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  }
  return null;
}

/** An address without port, brackets or zone, IPv4 inside IPv6 as IPv4; null for anything else. */
function plainAddress(node: string): string | null {
  if (node.length === 0 || node.length > nodeCharactersMax) return null;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(node)?.[1];
  const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(node)?.[1];
  const bare = (bracketed ?? withPort ?? node).replace(/%[\w.-]+$/, "");
  if (ipaddr.IPv4.isValidFourPartDecimal(bare))
    return bracketed === undefined ? ipaddr.IPv4.parse(bare).toString() : null;
  return ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare).toString() : null;
}

/** The longest IPv6 address with IPv4 inside, brackets, zone and port. */
const nodeCharactersMax = 80;
