import { bounds } from "#core/index.ts";
import type { Claim, Clock, Refused, Reserved, SharedParts } from "#ports/index.ts";
import type { LatestHolds } from "./latest-holds.ts";
import type { Membership } from "./membership.ts";
import type { Outbox } from "./outbox.ts";

export interface SharedPartsOptions {
  readonly membership: Membership;
  readonly outbox: Outbox;
  readonly latest: LatestHolds;
  readonly lag: ReadingLag;
  /** Tells what was spent and is not told yet. */
  tellCosts(): Promise<void>;
  reserve(asked: {
    readonly id: string;
    readonly claims: readonly Claim[];
    readonly lasts: true;
  }): Promise<Reserved | Refused>;
}

/** What outlives the processes: see the port. */
export function sharedParts({ membership, outbox, latest, lag, tellCosts, reserve }: SharedPartsOptions): SharedParts {
  return {
    hold: (id, claims) => reserve({ id, claims, lasts: true }),
    endHold: async (id) => {
      latest.ended(id);
      // What it has cost counts before it is freed.
      await tellCosts();
      const [done] = await outbox.tell("settle", [id], membership.isUp);
      return done === 1;
    },
    someHolds: (count) =>
      membership.ask("lasting", [String(count)]).then(
        (words) =>
          Array.from({ length: words.length / 2 }, (_, at) => ({
            id: String(words[2 * at]),
            ageMs: Number(words[2 * at + 1]),
          })),
        () => [],
      ),
    adopted: async (owner, storedAgoMs) => {
      const args = [owner, storedAgoMs === null ? "" : String(Math.round(storedAgoMs))];
      while ((await outbox.tell("adopted", args, membership.mayTell))[0] !== 1);
    },
    get ledgerLagMs() {
      return lag.ms;
    },
  };
}

/** The longest lag that readings were told of in the last moments: those that are made together begin one after the other. */
export class ReadingLag {
  readonly #clock: Clock;
  #atMs = Number.NEGATIVE_INFINITY;
  ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(ms: number): void {
    const atMs = this.#clock.monotonic();
    if (ms < this.ms && atMs - this.#atMs <= bounds.budgetReadWaitMs) return;
    this.ms = ms;
    this.#atMs = atMs;
  }
}
