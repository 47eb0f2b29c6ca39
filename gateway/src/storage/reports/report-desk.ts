import { bounds, Failure, type PriceVersion } from "#core/index.ts";
import type { Connection, Flavour } from "../database/database.ts";
import type { KeptDays } from "./kept-days.ts";

/** What a question is answered from, and until when. */
export interface ReportContext {
  readonly connection: Connection;
  readonly flavour: Pick<Flavour, "name">;
  readonly price: (versionId: string) => Promise<PriceVersion | null>;
  readonly deadline: Deadline;
  /** What earlier questions of this connection found in days that are over. */
  readonly kept: KeptDays;
}

/**
 * The end of a question's time. A statement that runs cannot be stopped, so answers are put together from statements that
 * are short, and this is asked between them.
 */
export class Deadline {
  readonly #endsAt: number;

  constructor(ms: number) {
    this.#endsAt = performance.now() + ms;
  }

  /** Throws `request_timeout` when the time is over. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw late();
  }
}

export function late(): Failure {
  return new Failure(
    "request_timeout",
    `This takes longer than ${bounds.reportMs / 1_000} seconds. Ask for a shorter time or for less at once.`,
  );
}
