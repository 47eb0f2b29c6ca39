import { BoundedMap } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** How long rows of a workspace wait after a limit refused another call of it. */
const pauseMs = 1_000;
const workspacesMax = 10_000;

/** Rows of batches give way to other calls: while limits refuse those, no row of the same workspace begins. */
export class Pauses {
  readonly #clock: Clock;
  readonly #until: BoundedMap<string, number>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#until = new BoundedMap(workspacesMax, { life: { clock, ms: pauseMs } });
  }

  /** A limit refused a call that is not a row. */
  refused(workspaceId: string): void {
    this.#until.set(workspaceId, this.#clock.monotonic() + pauseMs);
  }

  leftMs(workspaceId: string): number {
    const until = this.#until.get(workspaceId);
    return until === undefined ? 0 : Math.max(0, until - this.#clock.monotonic());
  }
}
