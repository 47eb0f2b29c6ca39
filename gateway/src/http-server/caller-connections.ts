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

/** A connection that counts from its first packet on, and may be closed to make room. */
export interface CountedConnection {
  readonly address: string;
  /** Grows with the time of the last use; null: it is in use. */
  readonly idleSince: number | null;
  /** Closes the connection if it is idle. */
  leave(): void;
}

interface Address {
  readonly connections: Set<CountedConnection>;
  searchedMs: number;
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

  /** Counts a new connection. Returns false if there are too many, and it must be closed. */
  enter(connection: CountedConnection): boolean {
    const key = addressKey(connection.address);
    if (this.#isAddressFull(key) && !this.#limits.isShared(connection.address)) {
      this.#makeRoomOf(key);
      if (this.#isAddressFull(key)) return this.#refuse("address");
    }
    if (this.#open >= this.max) {
      this.#makeRoom();
      if (this.#open >= this.max) return this.#refuse("all");
    }
    const address = this.#addresses.get(key) ?? { connections: new Set(), searchedMs: Number.NEGATIVE_INFINITY };
    this.#addresses.set(key, address);
    address.connections.add(connection);
    this.#open++;
    return true;
  }

  /** The connection has ended. May be called again. */
  release(connection: CountedConnection): void {
    const key = addressKey(connection.address);
    const connections = this.#addresses.get(key)?.connections;
    if (connections?.delete(connection) !== true) return;
    this.#open--;
    if (connections.size === 0) this.#addresses.delete(key);
  }

  /** An address may always have one connection. */
  #isAddressFull(key: string): boolean {
    const size = this.#addresses.get(key)?.connections.size ?? 0;
    const { perAddressMax } = this.#limits;
    return size > 0 && (size >= (perAddressMax ?? size + 1) || size >= this.max - this.#open - 1);
  }

  #makeRoomOf(key: string): void {
    const address = this.#addresses.get(key);
    const nowMs = this.#clock.monotonic();
    if (address === undefined || nowMs < address.searchedMs + connectionSearchMs) return;
    address.searchedMs = nowMs;
    this.#closeIdle([...address.connections]);
  }

  #makeRoom(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs < this.#searchedMs + connectionSearchMs) return;
    this.#searchedMs = nowMs;
    this.#closeIdle([...this.#addresses.values()].flatMap(({ connections }) => [...connections]));
  }

  /** Closes several at a time, since each search visits every connection. */
  #closeIdle(connections: readonly CountedConnection[]): void {
    const idle = connections.filter(({ idleSince }) => idleSince !== null);
    idle.sort((one, other) => (one.idleSince ?? 0) - (other.idleSince ?? 0));
    for (const connection of idle.slice(0, Math.ceil(connections.length / connectionSearchParts))) {
      this.closings.room++;
      connection.leave();
      // With TLS the connection is only closed once its caller answers.
      this.release(connection);
    }
  }

  #refuse(cause: ConnectionRefusal): false {
    this.refusals[cause]++;
    return false;
  }
}
