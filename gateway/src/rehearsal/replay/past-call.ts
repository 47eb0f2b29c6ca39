import type { Model } from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import type { PastEntry } from "#storage/in-thread.ts";
import type { Caller } from "./callers.ts";
import type { Figures } from "./figures.ts";
import type { Refusal } from "./refusal.ts";
import type { Move, Route } from "./route.ts";

/** Its place in the limits. */
type PastPermit = Pick<Permit, "held" | "topUp"> & { settle(tokens: number): unknown };

/** A call of the past: one attempt or several. */
export class PastCall {
  readonly first: PastEntry;
  readonly caller: Caller;
  /** It is counted: it began in the rehearsed period, not in the warm-up before. */
  readonly isCounted: boolean;
  /** Further attempts that were read before the call was admitted; null: none. */
  later: PastEntry[] | null = null;
  /** undefined: it has not begun; null: it was refused. */
  permit: PastPermit | null | undefined;
  refusal: Refusal | null = null;
  /** Where it would have gone instead; null: as recorded. */
  route: Route | null = null;
  move: Move | null = null;
  /** Deployments at providers over their budget; null: none. */
  skipped: Set<string> | null = null;
  /** The model that a used-up budget named last, and how many were named. */
  substitute: Model | null = null;
  substitutes = 0;
  /** Attempts that have not ended. */
  running = 0;
  /** Used by the attempts that ended. */
  tokens = 0;
  /** The sums of its model and its hour; null: not found yet. */
  ofModel: Figures | null = null;
  ofHour: Figures | null = null;

  /** Another call with the same hash of its request; see `OpenCalls`. */
  nextOpen: PastCall | null = null;

  constructor(first: PastEntry, caller: Caller, isCounted: boolean) {
    this.first = first;
    this.caller = caller;
    this.isCounted = isCounted;
  }
}
