import ipaddr from "ipaddr.js";
import { BoundedMap, type HeaderReader } from "#core/index.ts";
import { addressAllowed } from "#identity/index.ts";
import type { Observer } from "#ports/index.ts";

/** Proxies that one header may name, pairs of one of its elements, and addresses that are remembered. */
const proxyHopsMax = 16;
const forwardedPairsMax = 8;
const proxiesRememberedMax = 4_096;
/** Requests that are searched for a proxy that is not configured. */
const proxyLooksMax = 10_000;

/**
 * Who the caller is when proxies stand in front. Each writes at the end of `Forwarded` (RFC 7239) or `X-Forwarded-For` whom
 * it has spoken with, so the line is read from its end, for as long as what stands there is a proxy that we trust. What a
 * caller has written itself stands further in front and is never reached.
 */
export class CallerAddress {
  readonly #trusted: readonly string[];
  readonly #observer: Pick<Observer, "log">;
  /** Whoever asks may come from anywhere; proxies are few, and used by many. */
  readonly #proxies = new BoundedMap<string, boolean>(proxiesRememberedMax);
  readonly #peers = new BoundedMap<string, string>(proxiesRememberedMax);
  #looksLeft: number = proxyLooksMax;
  #disagreementTold = false;

  /** `trustedProxies`: addresses and ranges of the proxies that are believed; empty: none is. */
  constructor(trustedProxies: readonly string[], observer: Pick<Observer, "log">) {
    this.#trusted = trustedProxies;
    this.#observer = observer;
  }

  /** `peer`: whom the connection is with; empty when it is gone already. */
  of(peer: string, headers: HeaderReader): string {
    const nearest = this.#nearest(peer);
    if (this.#trusted.length === 0 || !this.#isProxy(nearest)) {
      if (this.#looksLeft > 0) this.#look(nearest, headers);
      return nearest;
    }
    const forwarded = headers.get("forwarded");
    const forwardedFor = headers.get("x-forwarded-for");
    if (forwarded === null && forwardedFor === null) return nearest;
    if (forwarded === null) return this.#walk(nearest, forwardedFor ?? "", bareNode);
    const said = this.#walk(nearest, forwarded, nodeOfElement);
    if (forwardedFor === null || said === this.#walk(nearest, forwardedFor, bareNode)) return said;
    // A proxy keeps up one of the two and passes the other on as its caller wrote it. We cannot know which is which.
    if (!this.#disagreementTold) {
      this.#disagreementTold = true;
      const message = "Forwarded and X-Forwarded-For disagree; such callers count as the proxy. Have it remove one.";
      this.#observer.log("warn", message, { proxy: nearest });
    }
    return nearest;
  }

  /** Callers come again, and mostly few do. */
  #nearest(peer: string): string {
    const known = this.#peers.get(peer);
    if (known !== undefined) return known;
    const nearest = plainAddress(peer) ?? peer;
    this.#peers.set(peer, nearest);
    return nearest;
  }

  #walk(peer: string, line: string, nodeOf: (element: string) => string | null): string {
    let known = peer;
    let end = line.length;
    for (let hop = 0; hop < proxyHopsMax && end >= 0; hop++) {
      const comma = end === 0 ? -1 : line.lastIndexOf(",", end - 1);
      const node = nodeOf(line.slice(comma + 1, end));
      // Hidden, unknown or unreadable: what lies behind is not known either.
      const address = node === null ? null : plainAddress(node);
      if (address === null) return known;
      known = address;
      if (!this.#isProxy(address)) return known;
      end = comma;
    }
    return known;
  }

  #isProxy(address: string): boolean {
    const known = this.#proxies.get(address);
    if (known !== undefined) return known;
    const trusted = addressAllowed(this.#trusted, address);
    this.#proxies.set(address, trusted);
    return trusted;
  }

  /** Somebody who set up a proxy and forgot to say so would see its address everywhere, and wonder. */
  #look(peer: string, headers: HeaderReader): void {
    this.#looksLeft--;
    if (!headers.has("x-forwarded-for") && !headers.has("forwarded")) return;
    if (!ipaddr.isValid(peer) || ipaddr.process(peer).range() === "unicast") return;
    this.#looksLeft = 0;
    const message =
      "A proxy says who the caller is, and is not believed: set SLUICE_TRUSTED_PROXIES to its address if it is yours. " +
      "Until then allowed addresses, throttles and the audit log see the proxy instead of the caller, and all of its callers share one limit.";
    this.#observer.log("warn", message, { proxy: peer });
  }
}

/** RFC 7239, 4: `for=` of one element; a quoted pair or a comma inside quotes is nothing that a proxy writes for us. */
function nodeOfElement(element: string): string | null {
  for (const pair of element.split(";", forwardedPairsMax)) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim().toLowerCase() !== "for") continue;
    const value = pair.slice(equals + 1).trim();
    return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  }
  return null;
}

const bareNode = (element: string): string => element.trim();

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
