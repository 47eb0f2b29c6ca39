import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { Connection, Target } from "./connection.ts";

/** Idle connections, kept for their next request. A connection that ends is removed at once; one that is idle too long is closed. */
export class ConnectionPool {
  readonly #clock: Clock;
  /** Targets with idle connections. Those without are removed by the next sweep. */
  readonly #targets = new Set<Target>();
  #count = 0;
  #disarm: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The connection that was used last, which is the most likely to be open still; null: there is none. `nowMs`: monotonic. */
  take(target: Target, nowMs: number): Connection | null {
    const last = target.idle.pop();
    if (last === undefined) return null;
    this.#count--;
    if (nowMs - last.idleSinceMs <= bounds.keptConnectionIdleMs) return last;
    last.destroy();
    // The others are older still.
    this.drop(target);
    return null;
  }

  put(connection: Connection): void {
    const { target } = connection;
    if (target.idle.length >= bounds.keptConnectionsPerAddressMax || this.#count >= bounds.keptConnectionsMax) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = this.#clock.monotonic();
    if (target.idle.push(connection) === 1) this.#targets.add(target);
    this.#count++;
    connection.onIdleEnd = this.#forget;
    this.#arm();
  }

  /** Closes all idle connections to an address, after one of them was found closed. */
  drop({ idle }: Target): void {
    this.#count -= idle.length;
    for (const connection of idle.splice(0)) connection.destroy();
  }

  readonly #forget = (connection: Connection): void => {
    const { idle } = connection.target;
    const index = idle.indexOf(connection);
    if (index < 0) return;
    idle.splice(index, 1);
    this.#count--;
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
    for (const target of this.#targets) {
      const { idle } = target;
      const young = idle.findIndex(({ idleSinceMs }) => nowMs - idleSinceMs <= bounds.keptConnectionIdleMs);
      const old = idle.splice(0, young < 0 ? idle.length : young);
      this.#count -= old.length;
      for (const connection of old) connection.destroy();
      if (idle.length === 0) this.#targets.delete(target);
    }
  }
}
