import type { Materials } from "./accept/task-body.ts";
import type { Deliveries } from "./deliver/deliveries.ts";
import type { ResultCopies } from "./deliver/result-copies.ts";
import type { VideoTasksOptions } from "./options.ts";
import type { AccountRates } from "./poll/pace.ts";
import type { Holds } from "./settle/holds.ts";
import type { Accounts } from "./upstream-call.ts";

/** What this module works with: what it was given, and what it keeps in memory. */
export interface TaskDependencies extends VideoTasksOptions {
  readonly accounts: Accounts;
  readonly rates: AccountRates;
  readonly holds: Holds;
  readonly materials: Materials;
  readonly deliveries: Deliveries;
  readonly copies: ResultCopies;
}
