import { BoundedMap, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type AddressKind, addressKind } from "./address-kind.ts";
import { NameCache, type Resolve } from "./name-cache.ts";
import { type Origin, originEnd, parseOrigin } from "./origin.ts";
import { refusedAddress } from "./send-failure.ts";

/** One address of an origin. What fetch is given is `base`, so that no second look-up can answer differently. */
export interface Target {
  readonly address: string;
  readonly port: number;
  /** `https://192.0.2.1:8443`: the origin with its address in the place of its name. */
  readonly base: string;
  /** Monotonic time of the last answer or connection; see connect-watch.ts. */
  lifeMs: number;
  /** Monotonic time of the last answer: how old the connections to it that are kept may be. */
  answeredMs: number;
  probing: boolean;
}

export interface Route {
  readonly origin: Origin;
  readonly targets: readonly Target[];
  readonly tls: BunFetchRequestInitTLS | undefined;
  /** The worst of all addresses of the name: one bad answer among good ones is an attack, not a choice. */
  readonly kind: AddressKind;
  /** Index of the target to begin with; moves on when one does not answer. */
  preferred: number;
}

interface Known {
  readonly origin: Origin;
  /** The list the route was made from: while the name cache hands out the same one, the route stands. */
  addresses: readonly string[];
  route: Route | null;
}

export class RouteTable {
  readonly #known = new BoundedMap<string, Known>(bounds.originsMax);
  readonly #names: NameCache;
  readonly #authorities: readonly string[] | undefined;

  constructor(clock: Clock, resolve: Resolve, authorities?: readonly string[]) {
    this.#authorities = authorities;
    this.#names = new NameCache(clock, resolve);
  }

  /** The route for a URL; a promise only while its name is being looked up. Throws upstream_unreachable. */
  find(url: string, allowPrivateNetwork: boolean): Route | Promise<Route> {
    const text = url.slice(0, originEnd(url));
    const known = this.#known.get(text) ?? this.#add(text);
    const { origin } = known;
    // An address that is spelled out has the same verdict as its name; a forbidden name is not even looked up.
    if (origin.nameKind !== "public") permit(origin.nameKind, origin, allowPrivateNetwork);
    const addresses = origin.addresses ?? this.#names.find(origin.hostname);
    if (addresses instanceof Promise)
      return addresses.then((found) => this.#routeTo(known, found, allowPrivateNetwork));
    return this.#routeTo(known, addresses, allowPrivateNetwork);
  }

  #add(text: string): Known {
    const known: Known = { origin: parseOrigin(text), addresses: [], route: null };
    this.#known.set(text, known);
    return known;
  }

  #routeTo(known: Known, addresses: readonly string[], allowPrivateNetwork: boolean): Route {
    if (known.route === null || known.addresses !== addresses) {
      known.route = createRoute(known.origin, addresses, known.route, this.#authorities);
      known.addresses = addresses;
    }
    permit(known.route.kind, known.origin, allowPrivateNetwork);
    return known.route;
  }
}

function permit(kind: AddressKind, origin: Origin, allowPrivateNetwork: boolean): void {
  if (kind === "public" || (kind === "private" && allowPrivateNetwork)) return;
  throw refusedAddress(kind, origin.hostname);
}

/** Keeps the targets that stay, because what is known of their life stays true. */
function createRoute(
  origin: Origin,
  addresses: readonly string[],
  previous: Route | null,
  authorities: readonly string[] | undefined,
): Route {
  const targets = addresses
    .slice(0, bounds.addressesMax)
    .map((address) => previous?.targets.find((t) => t.address === address) ?? createTarget(origin, address));
  return { origin, targets, tls: tlsOf(origin, authorities), kind: worst(addresses), preferred: 0 };
}

/** A literal address is verified against itself: a server name must not be an address (RFC 6066 §3). */
function tlsOf(origin: Origin, authorities: readonly string[] | undefined): BunFetchRequestInitTLS | undefined {
  if (origin.scheme !== "https") return undefined;
  const literal = origin.addresses?.includes(origin.hostname) ?? false;
  return {
    ...(literal ? {} : { serverName: origin.hostname }),
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  };
}

function createTarget(origin: Origin, address: string): Target {
  const host = address.includes(":") ? `[${address}]` : address;
  return {
    address,
    port: origin.port,
    base: `${origin.scheme}://${host}:${origin.port}`,
    lifeMs: Number.NEGATIVE_INFINITY,
    answeredMs: Number.NEGATIVE_INFINITY,
    probing: false,
  };
}

function worst(addresses: readonly string[]): AddressKind {
  const kinds = addresses.map(addressKind);
  if (kinds.includes("forbidden")) return "forbidden";
  return kinds.includes("private") ? "private" : "public";
}
