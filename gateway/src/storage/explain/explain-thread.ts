import { within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { type DatabasePlace, sentPlace } from "../database/database-place.ts";
import type { NewRow } from "../database/schema.ts";

/** The wait before a writing thread that died is started again. */
const explainRestartMs = 5_000;

/** Writes batches and removes old rows beside the event loop. One order at a time; each resolves when it is done, or rejects. */
export interface ExplainWriter {
  keep(batch: ExplainBatch): Promise<number>;
  prune(ages: ExplainAges): Promise<number>;
  end(timeoutMs: number): Promise<void>;
}

/**
 * A thread with a database connection of its own, started with the first order: most gateways never have one. When it dies
 * its order is rejected, and one that comes soon after as well; then it is started again.
 */
export class ExplainThread implements ExplainWriter {
  readonly #clock: Clock;
  readonly #thread: OrderThread<ExplainOrder, number>;
  #restMs = 0;

  constructor(place: DatabasePlace, clock: Clock) {
    this.#clock = clock;
    this.#thread = new OrderThread({
      entry: new URL("./explain-worker.ts", import.meta.url),
      name: "explanations",
      data: sentPlace(place),
      onDeath: () => {
        this.#restMs = clock.monotonic() + explainRestartMs;
      },
    });
  }

  keep(batch: ExplainBatch): Promise<number> {
    return this.#done({ type: "keep", batch });
  }

  prune(ages: ExplainAges): Promise<number> {
    return this.#done({ type: "prune", ages });
  }

  async end(timeoutMs: number): Promise<void> {
    await within(this.#clock, timeoutMs, this.#thread.end(), () => undefined);
  }

  async #done(order: ExplainOrder): Promise<number> {
    if (this.#clock.monotonic() < this.#restMs) throw new Error("the thread that writes them has stopped");
    const answer = await this.#thread.run(order);
    if ("reply" in answer) return answer.reply;
    throw new Error(answer.failed);
  }
}

/** Rows that are written together. */
export interface ExplainBatch {
  readonly explanations: readonly NewRow<"request_explanations">[];
  readonly captures: readonly NewRow<"request_captures">[];
}

/** What is too old: explanations that began before, captures that began before or have expired by now. Unix milliseconds. */
export interface ExplainAges {
  readonly explanationsBefore: number;
  readonly capturesBefore: number;
  readonly now: number;
}

/** To the thread that writes; its reply is the number of rows. */
export type ExplainOrder =
  | { readonly type: "keep"; readonly batch: ExplainBatch }
  | { readonly type: "prune"; readonly ages: ExplainAges };
