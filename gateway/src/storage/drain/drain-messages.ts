import type { SentPlace } from "../database/database-place.ts";
import type { DrainPlace, DrainTarget } from "./drain.ts";

/** To the drain's thread. `start` comes first, `end` last. `rest` asks it to end if nothing is open, and may be left unanswered. */
export type DrainOrder =
  | {
      readonly type: "start";
      readonly directory: string;
      readonly from: DrainPlace;
      readonly place: SentPlace;
      readonly openAttempts: boolean;
    }
  | { readonly type: "written"; readonly target: DrainTarget }
  | { readonly type: "rest" }
  | { readonly type: "end"; readonly target: DrainTarget };

/** From the drain's thread. */
export type DrainReport =
  | { readonly type: "stored"; readonly settled: number }
  | { readonly type: "problem"; readonly problem: string | null }
  /** It ends, and another one can go on from there. */
  | { readonly type: "resting"; readonly from: DrainPlace }
  | { readonly type: "ended" };
