import { bounds, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";

export interface EndingOptions {
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * The steps of an end, one after the other. Each is waited for within its bound, and all together within theirs. What does not
 * end in time is named in the log and left behind: the process ends all the same, and before somebody kills it.
 */
export class Ending {
  readonly #options: EndingOptions;
  readonly #startMs: number;
  readonly #late: string[] = [];
  #failure: { readonly thrown: unknown } | null = null;

  constructor(options: EndingOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonic();
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
    return this.#options.clock.monotonic() - this.#startMs;
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
