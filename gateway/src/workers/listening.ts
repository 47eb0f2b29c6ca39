import { bounds, within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { SharedPorts, ToWorker } from "./messages.ts";

/** A worker whose turn it is opens its port within this. */
export const workerListenMs = 30_000;

/** What of a worker concerns the ports. */
export interface Listener {
  send(message: ToWorker): void;
  signal(name: NodeJS.Signals): void;
  /** It leaves: new connections are to go to the others. */
  readonly leaving: boolean;
}

export interface ListeningOptions {
  readonly clock: Clock;
  /** The kernel, or this machine, does not let connections be steered. Called once. */
  readonly unsteered: () => void;
}

/**
 * Who listens on the shared ports, in the kernel's own order. Linux keeps the listeners of a port that is shared
 * (SO_REUSEPORT) in a list: who opens it comes last, and when one closes it the last takes its place (reuseport_add_sock and
 * reuseport_detach_sock in net/core/sock_reuseport.c). Workers open theirs one at a time, so the same list is known here, and
 * new connections can be steered away from one that is about to leave: nothing is left in its queue when it closes.
 *
 * Two workers that die in the same moment may leave the list in another order than they are seen to end. Then connections
 * are steered past the wrong one until those listeners have gone, and one that leaves may reset a few: what every worker
 * would do without this.
 */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #waiting: Listener[] = [];
  readonly #places: Listener[] = [];
  #opening: Listener | null = null;
  #cancelLate: (() => void) | null = null;
  #ports: SharedPorts | null = null;
  #steered = false;
  #told = false;
  #turn = 0;
  #steering: Promise<void> = Promise.resolve();
  #awaited: { readonly turn: number; readonly by: Listener; readonly settle: (done: boolean) => void } | null = null;

  constructor(options: ListeningOptions) {
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
      // What it was about to do is ordered again, from another.
      if (this.#awaited?.by === listener) this.#awaited.settle(true);
      if (this.#steered) void this.steer();
    }
    if (this.#opening === listener) this.#opened();
  }

  /**
   * Has new connections go to those only that do not leave. Resolves when they do. One order at a time: each is carried out by
   * a worker, and a slow one must not undo what another did after it.
   */
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
    if (done || this.#told) return;
    this.#told = true;
    this.#options.unsteered();
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
