import { bounds, within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { SharedPorts, ToWorker } from "./messages.ts";

/** How long a worker may take to open its ports. */
export const workerListenMs = 30_000;

/** A worker that listens on the shared ports. */
export interface Listener {
  send(message: ToWorker): void;
  signal(name: NodeJS.Signals): void;
  /** It is being replaced, so new connections should go to other workers. */
  readonly leaving: boolean;
}

export interface PortListenersOptions {
  readonly clock: Clock;
  /** Called once if connections cannot be steered on this machine. */
  readonly onUnsupported: () => void;
}

/**
 * Tracks which workers listen on the shared ports, in the kernel's order. Linux keeps the listeners of a SO_REUSEPORT port in a list: new ones are
 * appended, and when one closes, the last takes its place (reuseport_add_sock and reuseport_detach_sock in net/core/sock_reuseport.c).
 * Workers open their ports one at a time, so the order in this class is the kernel's, and new connections can be steered away from a
 * worker before it closes.
 * If two workers die at the same moment, the order may differ until those listeners have closed. Then a leaving worker may reset a few
 * connections, as it would without steering.
 */
export class PortListeners {
  readonly #options: PortListenersOptions;
  readonly #waiting: Listener[] = [];
  readonly #places: Listener[] = [];
  #opening: Listener | null = null;
  #cancelLate: (() => void) | null = null;
  #ports: SharedPorts | null = null;
  #steered = false;
  #reportedUnsupported = false;
  #turn = 0;
  #steering: Promise<void> = Promise.resolve();
  #awaited: { readonly turn: number; readonly by: Listener; readonly settle: (done: boolean) => void } | null = null;

  constructor(options: PortListenersOptions) {
    this.#options = options;
  }

  /** A worker waits for its turn to open the ports. */
  prepared(listener: Listener): void {
    this.#waiting.push(listener);
    this.#next();
  }

  listening(listener: Listener, ports: SharedPorts): void {
    if (this.#opening !== listener) return;
    this.#ports ??= ports;
    this.#places.push(listener);
    this.#opened();
    if (this.#steered) void this.steer();
  }

  ended(listener: Listener): void {
    remove(this.#waiting, listener);
    const place = this.#places.indexOf(listener);
    if (place >= 0) {
      const last = this.#places.pop();
      if (last !== undefined && last !== listener) this.#places[place] = last;
      // The next call of `steer` chooses another worker.
      if (this.#awaited?.by === listener) this.#awaited.settle(true);
      if (this.#steered) void this.steer();
    }
    if (this.#opening === listener) this.#opened();
  }

  /** Steers new connections to workers that stay. Sends one order at a time, so that a slow worker does not undo a later one. */
  steer(): Promise<void> {
    this.#steering = this.#steering.then(() => this.#steerNow());
    return this.#steering;
  }

  async #steerNow(): Promise<void> {
    const staying = this.#places.flatMap(({ leaving }, place) => (leaving ? [] : [place]));
    const places = staying.length === this.#places.length ? null : staying;
    const chosen = this.#places.findLast(({ leaving }) => !leaving);
    if (chosen === undefined || (places === null && !this.#steered)) return;
    this.#steered = places !== null;
    const turn = ++this.#turn;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#awaited = { turn, by: chosen, settle: resolve };
    chosen.send({ kind: "steer", turn, places });
    const done = await within(this.#options.clock, bounds.workerAnswerMs, promise, () => false);
    this.#awaited = null;
    if (done || this.#reportedUnsupported) return;
    this.#reportedUnsupported = true;
    this.#options.onUnsupported();
  }

  steeredBy(turn: number, done: boolean): void {
    if (this.#awaited?.turn === turn) this.#awaited.settle(done);
  }

  #next(): void {
    if (this.#opening !== null) return;
    const listener = this.#waiting.shift();
    if (listener === undefined) return;
    this.#opening = listener;
    this.#cancelLate = this.#options.clock.after(workerListenMs, () => listener.signal("SIGKILL"));
    listener.send({ kind: "listen", ports: this.#ports, alone: this.#places.length === 0 });
  }

  #opened(): void {
    this.#cancelLate?.();
    this.#cancelLate = null;
    this.#opening = null;
    this.#next();
  }
}

function remove<Value>(from: Value[], value: Value): void {
  const at = from.indexOf(value);
  if (at >= 0) from.splice(at, 1);
}
