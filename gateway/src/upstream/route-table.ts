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
import { NameCache, type Resolve, systemResolve } from "./names.ts";
import { type Origin, parseOrigin } from "./origin.ts";
import { type ProxyWay, proxyWay } from "./proxy-way.ts";
import { proxyFailure, refusedAddress } from "./send-failure.ts";

export interface Route {
  /** Its name in the table. */
  readonly name: string;
  readonly origin: Origin;
  readonly tls: BunFetchRequestInitTLS | undefined;
  /** The proxy that the targets belong to; null: they are the origin's own. */
  readonly way: ProxyWay | null;
  readonly targets: readonly Target[];
  /** The addresses of the targets. The route stays while the name cache returns the same list. */
  readonly addresses: readonly string[];
  /** The worst kind among all addresses of the name. */
  readonly kind: AddressKind;
  /** Index of the target to try first; changes when a target does not answer. */
  preferred: number;
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
  readonly #routes = new BoundedMap<string, Route>(bounds.originsMax);
  readonly #names: NameCache;
  readonly #authorities: readonly string[] | undefined;
  readonly #egress: Egress | null;
  readonly #webhookExemptions: readonly ExemptRule[];

  constructor({ clock, resolve = systemResolve, authorities, egress, webhookExemptions = [] }: TransportOptions) {
    this.#webhookExemptions = webhookExemptions;
    this.#authorities = authorities;
    this.#egress = egress ?? null;
    this.#names = new NameCache(clock, resolve);
  }

  /** The route to an origin. Returns no promise if its name is cached. Throws (or rejects with) upstream_unreachable. */
  find(
    text: string,
    {
      allowPrivateNetwork,
      network,
      webhook = false,
      machine = false,
    }: Pick<OutboundRequest, "allowPrivateNetwork" | "network" | "webhook" | "machine">,
  ): Route | Promise<Route> {
    const route = this.#routeOf(text, network);
    const { origin, way } = route;
    if (machine) return this.#toMachine(route);
    const allowed = allowPrivateNetwork || (webhook && isListed(this.#webhookExemptions, origin.hostname, origin.port));
    // A literal address has the same verdict as its name, and a forbidden name is not even looked up.
    if (origin.nameKind !== "public") permit(origin.nameKind, origin, allowed);
    if (way !== null) return this.#viaProxy(route, way.proxy, allowed);
    const addresses = origin.addresses ?? this.#names.find(origin.hostname);
    return addresses instanceof Promise
      ? addresses.then((found) => this.#direct(route, found, allowed, webhook))
      : this.#direct(route, addresses, allowed, webhook);
  }

  /** Only `credentials` asks for it, never with an address of settings or of an upstream. */
  #toMachine(route: Route): Route | Promise<Route> {
    const addresses = route.origin.addresses ?? this.#names.find(route.origin.hostname);
    if (addresses instanceof Promise) return addresses.then((found) => this.#routeTo(route, found));
    return this.#routeTo(route, addresses);
  }

  #direct(previous: Route, addresses: readonly string[], allowed: boolean, webhook: boolean): Route {
    const route = this.#routeTo(previous, addresses);
    permit(route.kind, route.origin, allowed || (webhook && this.#areListed(route.origin, addresses)));
    return route;
  }

  /** Whether webhooks may be sent to every private address of a name. */
  #areListed({ port }: Origin, addresses: readonly string[]): boolean {
    const rules = this.#webhookExemptions;
    return rules.length > 0 && addresses.every((one) => addressKind(one) === "public" || isListed(rules, one, port));
  }

  /** The proxy resolves the name itself. A name that is private or forbidden for this machine's resolver is refused before. */
  async #viaProxy(route: Route, { hostname }: EgressProxy, allowed: boolean): Promise<Route> {
    const { origin } = route;
    if (origin.addresses === null) permit(await this.#names.kindOf(origin.hostname), origin, allowed);
    const literal = hostname === "localhost" ? "127.0.0.1" : hostname;
    try {
      if (!ipaddr.isValid(literal)) return this.#routeTo(route, await this.#names.find(hostname));
    } catch (thrown) {
      throw proxyFailure("could not be resolved", thrown);
    }
    return route.targets.length > 0 ? route : this.#routeTo(route, [literal]);
  }

  #routeOf(text: string, network: OutboundNetwork | undefined): Route {
    const name = network === undefined ? text : `${network.id} ${text}`;
    const cached = this.#routes.get(name);
    if (cached !== undefined) return cached;
    const origin = parseOrigin(text);
    const usual = this.#egress === null ? null : egressProxyFor(this.#egress, origin);
    const proxy = network?.proxy === undefined ? usual : network.proxy;
    const route: Route = {
      name,
      origin,
      tls: tlsOf(origin, this.#authorities, network),
      way: proxy === null ? null : proxyWay(proxy, origin),
      targets: [],
      addresses: [],
      kind: "forbidden",
      preferred: 0,
    };
    this.#routes.set(name, route);
    return route;
  }

  /**
   * The route with these addresses. It is another one if they changed, so that a call only dials addresses that were checked for it.
   * Targets that stay keep their idle connections.
   */
  #routeTo(previous: Route, addresses: readonly string[]): Route {
    if (previous.addresses === addresses) return previous;
    // Other calls may have waited for the same lookup.
    const latest = this.#routes.get(previous.name) ?? previous;
    if (latest.addresses === addresses) return latest;
    const port = latest.way?.proxy.port ?? latest.origin.port;
    const targetOf = (address: string): Target =>
      latest.targets.find((one) => one.address === address) ?? {
        address,
        port,
        idle: [],
        answeredMs: Number.NEGATIVE_INFINITY,
      };
    const targets = addresses.slice(0, bounds.addressesMax).map(targetOf);
    const route: Route = { ...latest, targets, addresses, kind: worstKind(addresses), preferred: 0 };
    this.#routes.set(route.name, route);
    return route;
  }
}

function permit(kind: AddressKind, origin: Origin, allowPrivateNetwork: boolean): void {
  if (kind === "public" || (kind === "private" && allowPrivateNetwork)) return;
  throw refusedAddress(kind, origin.hostname);
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
    // The runtime would connect without TLS if it got no option at all.
    ...(literal ? { rejectUnauthorized: true } : { serverName: origin.hostname }),
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
