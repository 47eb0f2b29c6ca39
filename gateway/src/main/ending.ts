import { bounds, sleep, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Listeners } from "./listeners.ts";

/**
 * How long a leaving worker stays after it stops receiving new connections: the kernel hands over a connection that has sent nothing
 * only after a second (TCP_DEFER_ACCEPT).
 */
const workerSettleMs = 3_000;

/** How often a leaving worker checks whether its connections are closed. */
const workerLookMs = 100;

interface EndingOptions {
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Closes the parts of a gateway in reverse order of opening. Each has a time limit, and so have all together. A part that does not
 * close in time is logged and left behind, so that the process exits before it is killed.
 */
export class Ending {
  readonly #options: EndingOptions;
  readonly #parts = new AsyncDisposableStack();
  /** Monotonic milliseconds at which the first part began to close. */
  #startMs: number | null = null;
  readonly #late: string[] = [];
  #failure: { readonly thrown: unknown } | null = null;

  constructor(options: EndingOptions) {
    this.#options = options;
  }

  /** Registers how a part is closed. Call it where the part is opened. */
  defer(part: string, close: () => unknown, ms?: number): void {
    this.#parts.defer(() => this.step(part, close, ms));
  }

  /** The same for the part that gets all the time the others leave: `close` receives it in milliseconds and must keep to it. */
  deferLast(part: string, close: (ms: number) => unknown): void {
    this.#parts.defer(() => this.lastStep(part, close));
  }

  /** Closes every part that was registered. */
  async close(): Promise<void> {
    await this.#parts.disposeAsync();
  }

  /** Resolves when `act` has ended, failed or exceeded its time. */
  async step(what: string, act: () => unknown, ms: number = bounds.endStepMs): Promise<void> {
    await this.#within(what, act, Math.min(ms, bounds.endWorkMs - this.#elapsedMs));
  }

  /** The step that gets all the time the others leave: `act` receives it in milliseconds and must keep to it. */
  async lastStep(what: string, act: (ms: number) => unknown): Promise<void> {
    const ms = bounds.flushMs - this.#elapsedMs;
    await this.#within(what, () => act(ms), ms + bounds.endStepMsMin);
  }

  /** Logs that everything has closed, or what has not. */
  tell(): void {
    const { observer } = this.#options;
    if (this.#late.length === 0) observer.log("info", "Everything is flushed; the gateway ends.");
    else observer.log("warn", "The gateway ends, and some of its parts have not.", { parts: this.#late });
  }

  /** Throws the error of the first step that failed. */
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
  /** The longest wait, whatever is under way. */
  readonly timeoutMs: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
}

/**
 * A worker that was replaced leaves without its callers noticing. New connections already go to others. It still answers every call
 * on its own connections, and each answer closes the connection; an idle one closes after the idle timeout. Resolves when the last is
 * closed.
 */
export async function depart({ listeners, clock, observer, timeoutMs, signal }: DepartureOptions): Promise<void> {
  observer.log("info", "Another worker has taken this one's place; its connections are waited for.");
  listeners.leaveSockets();
  const startMs = clock.monotonic();
  // If connections cannot be counted, wait for the idle timeout so that those without a call have closed.
  const silentMs = bounds.idleConnectionMs + workerSettleMs;
  for (;;) {
    const elapsedMs = clock.monotonic() - startMs;
    const open = listeners.connections();
    const gone = open === null ? listeners.pending() === 0 && elapsedMs >= silentMs : open === 0;
    if (signal.aborted || elapsedMs >= timeoutMs || (gone && elapsedMs >= workerSettleMs)) return;
    await sleep(clock, workerLookMs, signal);
  }
}
