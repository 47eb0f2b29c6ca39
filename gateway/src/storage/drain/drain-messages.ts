import type { SentPlace } from "../database/database-place.ts";
import type { DrainTarget } from "./drain.ts";

/** To the drain's thread. `start` comes first, `end` last. */
export type DrainOrder =
  | {
      readonly type: "start";
      readonly directory: string;
      readonly firstSegment: number;
      readonly place: SentPlace;
      readonly openAttempts: boolean;
    }
  | { readonly type: "written"; readonly target: DrainTarget }
  | { readonly type: "end"; readonly target: DrainTarget };

/** From the drain's thread. */
export type DrainReport =
  | { readonly type: "stored"; readonly settled: number }
  | { readonly type: "problem"; readonly problem: string | null }
  | { readonly type: "ended" };
