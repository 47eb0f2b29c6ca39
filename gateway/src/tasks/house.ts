import type { AccountRates } from "./account-rates.ts";
import type { Accounts } from "./accounts.ts";
import type { Deliveries } from "./deliveries.ts";
import type { GoneWatch } from "./gone-watch.ts";
import type { Holds } from "./holds.ts";
import type { Materials } from "./materials.ts";
import type { VideoTasksOptions } from "./options.ts";
import type { ResultCopies } from "./result-copies.ts";

/** What this room works with: what it was given, and what it keeps in memory. */
export interface TaskHouse extends VideoTasksOptions {
  readonly accounts: Accounts;
  readonly rates: AccountRates;
  readonly gone: GoneWatch;
  readonly holds: Holds;
  readonly materials: Materials;
  readonly deliveries: Deliveries;
  readonly copies: ResultCopies;
}
