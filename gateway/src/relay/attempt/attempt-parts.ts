import type { Selection } from "#routing/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import type { Warnings } from "../translation/translator.ts";
import type { CallTally } from "./call-tally.ts";
import type { LaneMatch } from "./lane-match.ts";

/** What one attempt works with. */
export interface AttemptParts {
  readonly dependencies: RelayDependencies;
  readonly call: Call;
  readonly selection: Selection;
  readonly match: LaneMatch;
  readonly tally: CallTally;
  readonly warnings: Warnings;
}
