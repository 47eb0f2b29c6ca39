import { getCACertificates, rootCertificates } from "node:tls";
import ipaddr from "ipaddr.js";
import {
  BoundedMap,
  bounds,
  type Egress,
  type EgressProxy,
  type ExemptRule,
  egressProxyFor,
  isListed,
} from "#core/index.ts";
import type { Clock, OutboundNetwork, OutboundRequest } from "#ports/index.ts";
import { type AddressKind, addressKind, worstKind } from "./address-kind.ts";
import type { Target } from "./connection.ts";
import type { InProcessHandler } from "./in-process.ts";
import { NameCache, NameVerdicts, type Resolve, systemResolve } from "./names.ts";
import { type Origin, parseOrigin } from "./origin.ts";
import { type ProxyWay, proxyWay } from "./proxy-way.ts";
import { proxyFailure, refusedAddress } from "./send-failure.ts";

export interface Route {
  readonly origin: Origin;
  readonly targets: readonly Target[];
  readonly tls: BunFetchRequestInitTLS | undefined;
  /** The proxy that the targets belong to; null: they are the origin's own. */
  readonly way: ProxyWay | null;
  /** The worst kind among all addresses of the name. */
  readonly kind: AddressKind;
  /** Index of the target to try first; changes when a target does not answer. */
  preferred: number;
}

interface Entry {
  readonly origin: Origin;
  readonly network: OutboundNetwork | undefined;
  readonly way: ProxyWay | null;
  /** The addresses of the route, which stays while the name cache returns the same list. */
  addresses: readonly string[];
  route: Route | null;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** Handlers by the host of their `demo:` URLs. */
  readonly inProcess?: ReadonlyMap<string, InProcessHandler>;
  /** Resolves names; the machine's resolver by default. */
  readonly resolve?: Resolve;
  /** Certificate authorities (PEM) to trust instead of the machine's own, for closed networks and tests. */
  readonly authorities?: readonly string[] | undefined;
  /** Egress proxies; null or absent: none. The environment's proxy variables are not read here. */
  readonly egress?: Egress | null;
  /** Private destinations that webhooks may be sent to; absent: none. */
  readonly webhookExemptions?: readonly ExemptRule[];
}

export class RouteTable {
  readonly #entries = new BoundedMap<string, Entry>(bounds.originsMax);
  readonly #names: NameCache;
  readonly #verdicts: NameVerdicts;
  readonly #authorities: readonly string[] | undefined;
  readonly #egress: Egress | null;
  readonly #webhookExemptions: readonly ExemptRule[];

  constructor({ clock, resolve = systemResolve, authorities, egress, webhookExemptions = [] }: TransportOptions) {
    this.#webhookExemptions = webhookExemptions;
    this.#authorities = authorities;
    this.#egress = egress ?? null;
    this.#names = new NameCache(clock, resolve);
    this.#verdicts = new NameVerdicts(clock, resolve);
  }

  /** The route to an origin. Returns no promise if its name is cached. Throws (or rejects with) upstream_unreachable. */
  find(
    text: string,
    {
      allowPrivateNetwork,
      network,
      webhook = false,
    }: Pick<OutboundRequest, "allowPrivateNetwork" | "network" | "webhook">,
  ): Route | Promise<Route> {
    const entry = this.#entryOf(text, network);
    const { origin, way } = entry;
    const allowed = allowPrivateNetwork || (webhook && isListed(this.#webhookExemptions, origin.hostname, origin.port));
    // A literal address has the same verdict as its name, and a forbidden name is not even looked up.
    if (origin.nameKind !== "public") permit(origin.nameKind, origin, allowed);
    if (way !== null) return this.#viaProxy(entry, way.proxy, allowed);
    const addresses = origin.addresses ?? this.#names.find(origin.hostname);
    return addresses instanceof Promise
      ? addresses.then((found) => this.#direct(entry, found, allowed, webhook))
      : this.#direct(entry, addresses, allowed, webhook);
  }

  #direct(entry: Entry, addresses: readonly string[], allowed: boolean, webhook: boolean): Route {
    const route = this.#routeOf(entry, addresses);
    permit(route.kind, entry.origin, allowed || (webhook && this.#areListed(entry.origin, addresses)));
    return route;
  }

  /** Whether webhooks may be sent to every private address of a name. */
  #areListed({ port }: Origin, addresses: readonly string[]): boolean {
    const places = this.#webhookExemptions;
    return places.length > 0 && addresses.every((one) => addressKind(one) === "public" || isListed(places, one, port));
  }

  /** The proxy resolves the name itself. A name that is private for this machine's resolver is refused before. */
  async #viaProxy(entry: Entry, proxy: EgressProxy, allowed: boolean): Promise<Route> {
    const { origin } = entry;
    if (!allowed && origin.addresses === null) permit(await this.#verdicts.find(origin.hostname), origin, false);
    return this.#routeOf(entry, await this.#addressesOf(proxy, entry));
  }

  /** The same list as before for a proxy with a literal address, so that the route stays. */
  async #addressesOf({ hostname }: EgressProxy, { addresses }: Entry): Promise<readonly string[]> {
    const literal = hostname === "localhost" ? "127.0.0.1" : hostname;
    if (ipaddr.isValid(literal)) return addresses.length > 0 ? addresses : [literal];
    try {
      return await this.#names.find(hostname);
    } catch (thrown) {
      throw proxyFailure("could not be resolved", thrown);
    }
  }

  #entryOf(text: string, network: OutboundNetwork | undefined): Entry {
    const name = network === undefined ? text : `${network.id} ${text}`;
    const cached = this.#entries.get(name);
    if (cached !== undefined) return cached;
    const origin = parseOrigin(text);
    const usual = this.#egress === null ? null : egressProxyFor(this.#egress, origin);
    const proxy = network?.proxy === undefined ? usual : network.proxy;
    const way = proxy === null ? null : proxyWay(proxy, origin);
    const entry: Entry = { origin, network, way, addresses: [], route: null };
    this.#entries.set(name, entry);
    return entry;
  }

  #routeOf(entry: Entry, addresses: readonly string[]): Route {
    if (entry.route === null || entry.addresses !== addresses) {
      entry.route = createRoute(entry, addresses, this.#authorities);
      entry.addresses = addresses;
    }
    return entry.route;
  }
}

function permit(kind: AddressKind, origin: Origin, allowPrivateNetwork: boolean): void {
  if (kind === "public" || (kind === "private" && allowPrivateNetwork)) return;
  throw refusedAddress(kind, origin.hostname);
}

/** Keeps the targets that are still in the list, with the time of their last answer. */
function createRoute(
  { origin, route: previous, network, way }: Entry,
  addresses: readonly string[],
  authorities: readonly string[] | undefined,
): Route {
  const targets = addresses.slice(0, bounds.addressesMax).map(
    (address) =>
      previous?.targets.find((t) => t.address === address) ?? {
        address,
        port: way?.proxy.port ?? origin.port,
        idle: [],
        answeredMs: Number.NEGATIVE_INFINITY,
      },
  );
  return {
    origin,
    targets,
    way,
    tls: tlsOf(origin, authorities, network),
    kind: worstKind(addresses),
    preferred: 0,
  };
}

/** A literal address is verified against itself: a server name must not be an address (RFC 6066 §3). */
function tlsOf(
  origin: Origin,
  authorities: readonly string[] | undefined,
  network: OutboundNetwork | undefined,
): BunFetchRequestInitTLS | undefined {
  if (origin.scheme !== "https") return undefined;
  const literal = origin.addresses?.includes(origin.hostname) ?? false;
  const { authorities: more, client } = network ?? {};
  const trusted = more === undefined ? authorities : [...(authorities ?? usualAuthorities()), ...more];
  return {
    ...(literal ? {} : { serverName: origin.hostname }),
    ...(trusted === undefined ? {} : { ca: [...trusted] }),
    ...(client === undefined ? {} : { cert: client.certificate, key: client.key.reveal() }),
  };
}

let usual: readonly string[] | null = null;

/** The authorities that the runtime trusts by default (PEM), including the file that NODE_EXTRA_CA_CERTS names. */
function usualAuthorities(): readonly string[] {
  usual ??= Object.freeze([...new Set([...rootCertificates, ...getCACertificates("default")])]);
  return usual;
}

export function trustedWith(authorities: readonly string[]): readonly string[] {
  return Object.freeze([...usualAuthorities(), ...authorities]);
}
