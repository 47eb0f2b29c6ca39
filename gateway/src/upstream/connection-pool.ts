import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { Connection } from "./connection.ts";
import type { Target } from "./route-table.ts";

/** Connections that wait for their next request. One that ends meanwhile leaves at once; one that waits too long is closed. */
export class ConnectionPool {
  readonly #clock: Clock;
  /** By address, the longest unused first. */
  readonly #kept = new Map<Target, Connection[]>();
  #count = 0;
  #disarm: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The one that was used last, because it is the likeliest to stand still; null: there is none. `nowMs`: monotonic. */
  take(target: Target, nowMs: number): Connection | null {
    const kept = this.#kept.get(target);
    const last = kept?.pop();
    if (kept === undefined || last === undefined) return null;
    this.#count--;
    if (kept.length === 0) this.#kept.delete(target);
    if (nowMs - last.idleSinceMs <= bounds.keptConnectionIdleMs) return last;
    last.destroy();
    // What was used before it is older still.
    this.drop(target);
    return null;
  }

  put(connection: Connection): void {
    const { target } = connection;
    const kept = this.#kept.get(target) ?? [];
    if (kept.length >= bounds.keptConnectionsPerAddressMax || this.#count >= bounds.keptConnectionsMax) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = this.#clock.monotonic();
    kept.push(connection);
    this.#kept.set(target, kept);
    this.#count++;
    connection.whenIdleEnds(this.#forget);
    this.#arm();
  }

  /** Closes all that are kept to an address: one of them was found dead. */
  drop(target: Target): void {
    const kept = this.#kept.get(target) ?? [];
    this.#kept.delete(target);
    this.#count -= kept.length;
    for (const connection of kept) connection.destroy();
  }

  readonly #forget = (connection: Connection): void => {
    const kept = this.#kept.get(connection.target) ?? [];
    const index = kept.indexOf(connection);
    if (index < 0) return;
    kept.splice(index, 1);
    this.#count--;
    if (kept.length === 0) this.#kept.delete(connection.target);
  };

  /** One timer for all; it comes at most twice in the longest time that one may wait. */
  #arm(): void {
    this.#disarm ??= this.#clock.after(bounds.keptConnectionIdleMs / 2, () => {
      this.#disarm = null;
      this.#sweep();
      if (this.#count > 0) this.#arm();
    });
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonic();
    for (const [target, kept] of this.#kept) {
      const young = kept.filter(({ idleSinceMs }) => nowMs - idleSinceMs <= bounds.keptConnectionIdleMs);
      for (const one of kept) if (!young.includes(one)) one.destroy();
      this.#count -= kept.length - young.length;
      if (young.length === 0) this.#kept.delete(target);
      else this.#kept.set(target, young);
    }
  }
}
