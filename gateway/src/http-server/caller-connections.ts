import { addressKey } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** At the bound: how often idle connections are searched, and the part of all connections that is closed then. */
const connectionSearchMs = 1_000;
const connectionSearchParts = 16;

export interface ConnectionLimits {
  readonly max: number;
  /** Connections of one address; null: only its share is bounded. */
  readonly perAddressMax: number | null;
  /** Whether many callers share the address: our proxies, and this machine. Its connections count only in total. */
  readonly isShared: (address: string) => boolean;
}

export type ConnectionRefusal = "address" | "all";
/** Why the gateway closed a connection: to make room, or because its caller sent or read too slowly. */
export type ConnectionClosing = "room" | "slow_sender" | "slow_reader";

/** A connection that may be closed to make room. */
export interface IdleConnection {
  /** Grows with the time of the last use; null: a request is under way. */
  readonly idleSince: number | null;
  /** Closes the connection if it is idle. */
  leave(): void;
}

interface Address {
  readonly places: Set<ConnectionPlace>;
  searchedMs: number;
}

/** The slot of one counted connection, from its first packet on. */
export class ConnectionPlace {
  /** null: the TLS handshake is under way. */
  connection: IdleConnection | null = null;
  readonly #leave: (place: ConnectionPlace) => void;

  constructor(leave: (place: ConnectionPlace) => void) {
    this.#leave = leave;
  }

  /** May be called again. */
  release(): void {
    this.#leave(this);
  }
}

/**
 * Bounds the connections of callers, in total and for each address (a /64 of IPv6): an address may have as many as it leaves free for
 * others. At the bound, the connections that have been idle longest are closed, once a second. Connections in use stay.
 */
export class CallerConnections {
  readonly max: number;
  readonly refusals: Record<ConnectionRefusal, number> = { address: 0, all: 0 };
  readonly closings: Record<ConnectionClosing, number> = { room: 0, slow_sender: 0, slow_reader: 0 };
  readonly #limits: ConnectionLimits;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #addresses = new Map<string, Address>();
  #open = 0;
  #searchedMs = Number.NEGATIVE_INFINITY;

  constructor(limits: ConnectionLimits, clock: Pick<Clock, "monotonic">) {
    this.max = limits.max;
    this.#limits = limits;
    this.#clock = clock;
  }

  get open(): number {
    return this.#open;
  }

  /** The slot of a new connection; null: there is none, and the connection must be closed. */
  enter(remoteAddress: string): ConnectionPlace | null {
    const key = addressKey(remoteAddress);
    if (this.#isAddressFull(key) && !this.#limits.isShared(remoteAddress)) {
      this.#makeRoomOf(key);
      if (this.#isAddressFull(key)) return this.#refuse("address");
    }
    if (this.#open >= this.max) {
      this.#makeRoom();
      if (this.#open >= this.max) return this.#refuse("all");
    }
    return this.#add(key);
  }

  #add(key: string): ConnectionPlace {
    const address = this.#addresses.get(key) ?? { places: new Set(), searchedMs: Number.NEGATIVE_INFINITY };
    this.#addresses.set(key, address);
    const { places } = address;
    const place = new ConnectionPlace((left) => {
      if (!places.delete(left)) return;
      this.#open--;
      if (places.size === 0) this.#addresses.delete(key);
    });
    places.add(place);
    this.#open++;
    return place;
  }

  /** An address may always have one connection. */
  #isAddressFull(key: string): boolean {
    const size = this.#addresses.get(key)?.places.size ?? 0;
    const { perAddressMax } = this.#limits;
    return size > 0 && (size >= (perAddressMax ?? size + 1) || size >= this.max - this.#open - 1);
  }

  #makeRoomOf(key: string): void {
    const address = this.#addresses.get(key);
    const nowMs = this.#clock.monotonic();
    if (address === undefined || nowMs < address.searchedMs + connectionSearchMs) return;
    address.searchedMs = nowMs;
    this.#closeIdle([...address.places]);
  }

  #makeRoom(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs < this.#searchedMs + connectionSearchMs) return;
    this.#searchedMs = nowMs;
    this.#closeIdle([...this.#addresses.values()].flatMap(({ places }) => [...places]));
  }

  /** Closes several at a time, since each search visits every connection. */
  #closeIdle(places: readonly ConnectionPlace[]): void {
    const idle = places.filter((place) => (place.connection?.idleSince ?? null) !== null);
    idle.sort((one, other) => (one.connection?.idleSince ?? 0) - (other.connection?.idleSince ?? 0));
    for (const place of idle.slice(0, Math.ceil(places.length / connectionSearchParts))) {
      this.closings.room++;
      place.connection?.leave();
      // With TLS the connection is only closed once its caller answers.
      place.release();
    }
  }

  #refuse(cause: ConnectionRefusal): null {
    this.refusals[cause]++;
    return null;
  }
}
