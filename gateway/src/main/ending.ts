import { bounds, sleep, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Listeners } from "./listeners.ts";

/** How long a leaving worker stays open for connections that the kernel has not handed over yet (TCP_DEFER_ACCEPT: a second). */
const workerSettleMs = 3_000;

/** How often a leaving worker checks whether its connections are closed. */
const workerCheckMs = 100;

interface EndingOptions {
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Closes the parts of a gateway in reverse order of opening. Each has a time limit, and so have all together. A part that does not
 * close in time is logged and abandoned, so that the process exits before it is killed.
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

  /** Like `defer`, for the part that may use all remaining time. `close` receives that time in milliseconds. */
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

  /** Like `step`, with all remaining time. `act` receives that time in milliseconds. */
  async lastStep(what: string, act: (ms: number) => unknown): Promise<void> {
    const ms = bounds.flushMs - this.#elapsedMs;
    await this.#within(what, () => act(ms), ms + bounds.endStepMsMin);
  }

  /** Logs that everything has closed, or what has not. */
  logResult(): void {
    const { observer } = this.#options;
    if (this.#late.length === 0) observer.log("info", "shutdown complete");
    else observer.log("warn", "shutdown complete, but some parts did not close", { parts: this.#late });
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
        observer.log("error", "failed to close a part", { part: what, error: thrown });
        return "failed" as const;
      },
    );
    if ((await within(clock, withinMs, done, () => "late" as const)) === "late") {
      this.#late.push(what);
      observer.log("warn", "a part did not close in time", { part: what, withinMs });
    }
  }
}

interface LeaveOptions {
  readonly listeners: Pick<Listeners, "leaveSockets" | "pending" | "connections">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** The longest wait. */
  readonly timeoutMs: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
}

/**
 * Waits until the connections of a replaced worker are closed. New connections already go to other workers. Each answer closes its
 * connection, and idle ones close after the idle timeout.
 */
export async function waitForConnections(options: LeaveOptions): Promise<void> {
  const { listeners, clock, observer, timeoutMs, signal } = options;
  observer.log("info", "replaced by another worker; waiting for open connections");
  listeners.leaveSockets();
  const startMs = clock.monotonic();
  // If connections cannot be counted, idle ones are closed after the idle timeout.
  const idleMs = bounds.idleConnectionMs + workerSettleMs;
  for (;;) {
    const elapsedMs = clock.monotonic() - startMs;
    const open = listeners.connections();
    const isClosed = open === null ? listeners.pending() === 0 && elapsedMs >= idleMs : open === 0;
    if (signal.aborted || elapsedMs >= timeoutMs || (isClosed && elapsedMs >= workerSettleMs)) return;
    await sleep(clock, workerCheckMs, signal);
  }
}
