import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { Connection } from "./connection.ts";
import type { Target } from "./route-table.ts";

/** Idle connections, kept for their next request. A connection that ends is removed at once; one that is idle too long is closed. */
export class ConnectionPool {
  readonly #clock: Clock;
  /** By address, the longest idle first. */
  readonly #idle = new Map<Target, Connection[]>();
  #count = 0;
  #disarm: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The connection that was used last, which is the most likely to be open still; null: there is none. `nowMs`: monotonic. */
  take(target: Target, nowMs: number): Connection | null {
    const idle = this.#idle.get(target);
    const last = idle?.pop();
    if (idle === undefined || last === undefined) return null;
    this.#count--;
    if (idle.length === 0) this.#idle.delete(target);
    if (nowMs - last.idleSinceMs <= bounds.keptConnectionIdleMs) return last;
    last.destroy();
    // The others are older still.
    this.drop(target);
    return null;
  }

  put(connection: Connection): void {
    const { target } = connection;
    const idle = this.#idle.get(target) ?? [];
    if (idle.length >= bounds.keptConnectionsPerAddressMax || this.#count >= bounds.keptConnectionsMax) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = this.#clock.monotonic();
    idle.push(connection);
    this.#idle.set(target, idle);
    this.#count++;
    connection.whenIdleEnds(this.#forget);
    this.#arm();
  }

  /** Closes all idle connections to an address, after one of them was found closed. */
  drop(target: Target): void {
    const idle = this.#idle.get(target) ?? [];
    this.#idle.delete(target);
    this.#count -= idle.length;
    for (const connection of idle) connection.destroy();
  }

  readonly #forget = (connection: Connection): void => {
    const idle = this.#idle.get(connection.target) ?? [];
    const index = idle.indexOf(connection);
    if (index < 0) return;
    idle.splice(index, 1);
    this.#count--;
    if (idle.length === 0) this.#idle.delete(connection.target);
  };

  /** One timer serves all connections. */
  #arm(): void {
    this.#disarm ??= this.#clock.after(bounds.keptConnectionIdleMs / 2, () => {
      this.#disarm = null;
      this.#sweep();
      if (this.#count > 0) this.#arm();
    });
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonic();
    for (const [target, idle] of this.#idle) {
      const young = idle.filter(({ idleSinceMs }) => nowMs - idleSinceMs <= bounds.keptConnectionIdleMs);
      for (const one of idle) if (!young.includes(one)) one.destroy();
      this.#count -= idle.length - young.length;
      if (young.length === 0) this.#idle.delete(target);
      else this.#idle.set(target, young);
    }
  }
}
