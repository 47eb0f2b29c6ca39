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
import type { Clock, OutboundNetwork } from "#ports/index.ts";
import { type AddressKind, addressKind, worstKind } from "./address-kind.ts";
import type { InProcessHandler } from "./in-process.ts";
import { NameCache, NameVerdicts, type Resolve, systemResolve } from "./names.ts";
import { type Origin, originEnd, parseOrigin } from "./origin.ts";
import { type ProxyWay, proxyWay } from "./proxy-way.ts";
import { proxyFailure, refusedAddress } from "./send-failure.ts";

/** One address of an origin. It is dialled as it is, so that no second look-up can answer differently. */
export interface Target {
  readonly address: string;
  readonly port: number;
  /** Monotonic time of the last answer: how old the connections to it that are kept may be. */
  answeredMs: number;
}

export interface Route {
  readonly origin: Origin;
  readonly targets: readonly Target[];
  readonly tls: BunFetchRequestInitTLS | undefined;
  /** The targets are a proxy's; null: the origin's own. */
  readonly way: ProxyWay | null;
  /** The worst of all addresses of the name: one bad answer among good ones is an attack, not a choice. */
  readonly kind: AddressKind;
  /** Index of the target to begin with; moves on when one does not answer. */
  preferred: number;
}

interface Known {
  readonly origin: Origin;
  readonly network: OutboundNetwork | undefined;
  readonly way: ProxyWay | null;
  /** The list the route was made from: while the name cache hands out the same one, the route stands. */
  addresses: readonly string[];
  route: Route | null;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** Handlers by the host of their `demo:` URLs. */
  readonly inProcess?: ReadonlyMap<string, InProcessHandler>;
  /** How names become addresses; the machine's resolver by default. */
  readonly resolve?: Resolve;
  /** Certificate authorities (PEM) to trust instead of the machine's own: a closed network, a test. */
  readonly authorities?: readonly string[] | undefined;
  /** The proxies that calls leave by; null or left out: none. Those of the process's environment are never asked unseen. */
  readonly egress?: Egress | null;
  /** Private places that webhooks may go to; left out: none. */
  readonly webhookPlaces?: readonly ExemptRule[];
}

export class RouteTable {
  readonly #known = new BoundedMap<string, Known>(bounds.originsMax);
  readonly #names: NameCache;
  readonly #verdicts: NameVerdicts;
  readonly #authorities: readonly string[] | undefined;
  readonly #egress: Egress | null;
  readonly #webhookPlaces: readonly ExemptRule[];

  constructor({ clock, resolve = systemResolve, authorities, egress, webhookPlaces = [] }: TransportOptions) {
    this.#webhookPlaces = webhookPlaces;
    this.#authorities = authorities;
    this.#egress = egress ?? null;
    this.#names = new NameCache(clock, resolve);
    this.#verdicts = new NameVerdicts(clock, resolve);
  }

  /** The route for a URL; a promise only while a name is being looked up. Throws upstream_unreachable. */
  find(url: string, allowPrivateNetwork: boolean, network?: OutboundNetwork, webhook = false): Route | Promise<Route> {
    const known = this.#knownOf(url.slice(0, originEnd(url)), network);
    const { origin, way } = known;
    const named = webhook && isListed(this.#webhookPlaces, origin.hostname, origin.port);
    const allowed = allowPrivateNetwork || named;
    // An address that is spelled out has the same verdict as its name; a forbidden name is not even looked up.
    if (origin.nameKind !== "public") permit(origin.nameKind, origin, allowed);
    if (way !== null) return this.#byProxy(known, way.proxy, allowed);
    const addresses = origin.addresses ?? this.#names.find(origin.hostname);
    if (addresses instanceof Promise)
      return addresses.then((found) => this.#routeFound(known, found, allowed, webhook));
    return this.#routeFound(known, addresses, allowed, webhook);
  }

  #routeFound(known: Known, found: readonly string[], allowed: boolean, webhook: boolean): Route | Promise<Route> {
    return this.#routeTo(known, found, allowed || (webhook && this.#areListed(known.origin, found)));
  }

  /** Every address of a name that is private stands where webhooks may go. */
  #areListed({ port }: Origin, addresses: readonly string[]): boolean {
    const places = this.#webhookPlaces;
    return places.length > 0 && addresses.every((one) => addressKind(one) === "public" || isListed(places, one, port));
  }

  #knownOf(text: string, network: OutboundNetwork | undefined): Known {
    const name = network === undefined ? text : `${network.id} ${text}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const origin = parseOrigin(text);
    const proxy = network?.proxy === undefined ? this.#proxyFor(origin) : network.proxy;
    const way = proxy === null ? null : proxyWay(proxy, origin);
    const added: Known = { origin, network, way, addresses: [], route: null };
    this.#known.set(name, added);
    return added;
  }

  #proxyFor(origin: Origin): EgressProxy | null {
    return this.#egress === null ? null : egressProxyFor(this.#egress, origin);
  }

  /** The proxy looks the name up again, and is an administrator's word; what is known here of the name counts before. */
  #byProxy(known: Known, proxy: EgressProxy, allowPrivateNetwork: boolean): Route | Promise<Route> {
    const { origin } = known;
    if (!allowPrivateNetwork && origin.addresses === null) {
      const kind = this.#verdicts.find(origin.hostname);
      if (kind instanceof Promise) {
        return kind.then((found) => {
          permit(found, origin, false);
          return this.#toProxy(known, proxy);
        });
      }
      permit(kind, origin, false);
    }
    return this.#toProxy(known, proxy);
  }

  #toProxy(known: Known, { hostname }: EgressProxy): Route | Promise<Route> {
    if (ipaddr.isValid(hostname) || hostname === "localhost") {
      const own = (known.addresses.length > 0 && known.addresses) || [
        hostname === "localhost" ? "127.0.0.1" : hostname,
      ];
      return this.#routeBy(known, own);
    }
    const unknown = (thrown: unknown): never => {
      throw proxyFailure("is not known by its name here", thrown);
    };
    try {
      const found = this.#names.find(hostname);
      return found instanceof Promise
        ? found.then((all) => this.#routeBy(known, all), unknown)
        : this.#routeBy(known, found);
    } catch (thrown) {
      return unknown(thrown);
    }
  }

  #routeTo(known: Known, addresses: readonly string[], allowPrivateNetwork: boolean): Route {
    const route = this.#routeBy(known, addresses);
    permit(route.kind, known.origin, allowPrivateNetwork);
    return route;
  }

  #routeBy(known: Known, addresses: readonly string[]): Route {
    if (known.route === null || known.addresses !== addresses) {
      known.route = createRoute(known, addresses, this.#authorities);
      known.addresses = addresses;
    }
    return known.route;
  }
}

function permit(kind: AddressKind, origin: Origin, allowPrivateNetwork: boolean): void {
  if (kind === "public" || (kind === "private" && allowPrivateNetwork)) return;
  throw refusedAddress(kind, origin.hostname);
}

/** Keeps the targets that stay, because what is known of their life stays true. */
function createRoute(
  { origin, route: previous, network, way }: Known,
  addresses: readonly string[],
  authorities: readonly string[] | undefined,
): Route {
  const targets = addresses.slice(0, bounds.addressesMax).map(
    (address) =>
      previous?.targets.find((t) => t.address === address) ?? {
        address,
        port: way?.proxy.port ?? origin.port,
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
  const believed = more === undefined ? authorities : [...(authorities ?? usualAuthorities()), ...more];
  return {
    ...(literal ? {} : { serverName: origin.hostname }),
    ...(believed === undefined ? {} : { ca: [...believed] }),
    ...(client === undefined ? {} : { cert: client.certificate, key: client.key.reveal() }),
  };
}

/** What the runtime believes by itself (PEM), with the file that NODE_EXTRA_CA_CERTS names. One list for all that asks. */
let usual: readonly string[] | null = null;

export function believedBeside(authorities: readonly string[]): readonly string[] {
  return Object.freeze([...usualAuthorities(), ...authorities]);
}

function usualAuthorities(): readonly string[] {
  usual ??= Object.freeze([...new Set([...rootCertificates, ...getCACertificates("default")])]);
  return usual;
}
