import { bounds, sleep, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Listeners } from "./listeners.ts";

/**
 * A worker that leaves stays at least so long after new connections are kept from it: one that was opened just before and
 * says nothing yet is handed over by the kernel only after a second (TCP_DEFER_ACCEPT).
 */
const workerSettleMs = 3_000;

/** How often a worker that leaves looks whether its connections have gone. */
const workerLookMs = 100;

interface EndingOptions {
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Closes the parts of a gateway, those opened last first. Each is waited for within its bound, and all together within theirs. What
 * does not end in time is named in the log and left behind: the process ends all the same, and before somebody kills it.
 */
export class Ending {
  readonly #options: EndingOptions;
  readonly #parts = new AsyncDisposableStack();
  /** When the first part began to close. */
  #startMs: number | null = null;
  readonly #late: string[] = [];
  #failure: { readonly thrown: unknown } | null = null;

  constructor(options: EndingOptions) {
    this.#options = options;
  }

  /** Registers how a part is closed; to be called where it is opened. */
  defer(part: string, close: () => unknown, ms?: number): void {
    this.#parts.defer(() => this.step(part, close, ms));
  }

  /** The same for the part to which all the time goes that the others leave: `close` is told how much, and keeps to it by itself. */
  deferLast(part: string, close: (ms: number) => unknown): void {
    this.#parts.defer(() => this.lastStep(part, close));
  }

  /** Closes every part that was registered. */
  async close(): Promise<void> {
    await this.#parts.disposeAsync();
  }

  /** Resolves when it is done, has failed or is late. */
  async step(what: string, act: () => unknown, ms: number = bounds.endStepMs): Promise<void> {
    await this.#within(what, act, Math.min(ms, bounds.endWorkMs - this.#elapsedMs));
  }

  /** The one for which time is left over by the others: `act` is told how much, and keeps to it by itself. */
  async lastStep(what: string, act: (ms: number) => unknown): Promise<void> {
    const ms = bounds.flushMs - this.#elapsedMs;
    await this.#within(what, () => act(ms), ms + bounds.endStepMsMin);
  }

  /** Says that all has ended, or what has not. */
  tell(): void {
    const { observer } = this.#options;
    if (this.#late.length === 0) observer.log("info", "Everything is flushed; the gateway ends.");
    else observer.log("warn", "The gateway ends, and some of its parts have not.", { parts: this.#late });
  }

  /** Throws what the first step threw that failed. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.thrown;
  }

  get #elapsedMs(): number {
    const nowMs = this.#options.clock.monotonic();
    this.#startMs ??= nowMs;
    return nowMs - this.#startMs;
  }

  async #within(what: string, act: () => unknown, ms: number): Promise<void> {
    const { clock, observer } = this.#options;
    const withinMs = Math.max(ms, bounds.endStepMsMin);
    const done = Promise.try(act).then(
      () => "done" as const,
      (thrown: unknown) => {
        this.#failure ??= { thrown };
        observer.log("error", "A part of the gateway failed at its end.", { part: what, error: thrown });
        return "failed" as const;
      },
    );
    if ((await within(clock, withinMs, done, () => "late" as const)) === "late") {
      this.#late.push(what);
      observer.log("warn", "A part of the gateway did not end in time; it is left behind.", { part: what, withinMs });
    }
  }
}

interface DepartureOptions {
  readonly listeners: Pick<Listeners, "leaveSockets" | "pending" | "connections">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** It is waited for so long, whatever goes on. */
  readonly timeoutMs: number;
  /** Aborted: nobody is waited for any more. */
  readonly signal: AbortSignal;
}

/**
 * A worker leaves whose place another has taken, so that no caller notices. New connections go to others already. On those that
 * it has every call is still answered, and the answer closes its connection; one on which nothing comes ends when it has been
 * silent for as long as any may be. Resolves when the last has gone.
 */
export async function depart({ listeners, clock, observer, timeoutMs, signal }: DepartureOptions): Promise<void> {
  observer.log("info", "Another worker has taken this one's place; its connections are waited for.");
  listeners.leaveSockets();
  const startMs = clock.monotonic();
  // Where connections cannot be counted those without a call are waited for as long as they may be silent.
  const silentMs = bounds.idleConnectionMs + workerSettleMs;
  for (;;) {
    const elapsedMs = clock.monotonic() - startMs;
    const open = listeners.connections();
    const gone = open === null ? listeners.pending() === 0 && elapsedMs >= silentMs : open === 0;
    if (signal.aborted || elapsedMs >= timeoutMs || (gone && elapsedMs >= workerSettleMs)) return;
    await sleep(clock, workerLookMs, signal);
  }
}
