import type { Materials } from "./accept/task-body.ts";
import type { Deliveries } from "./deliver/deliveries.ts";
import type { ResultCopies } from "./deliver/result-copies.ts";
import type { VideoTasksOptions } from "./options.ts";
import type { PollPacer } from "./poll/pace.ts";
import type { Holds } from "./settle/holds.ts";
import type { AccountProviders } from "./upstream-call.ts";

/** The dependencies of this module. */
export interface TaskDependencies extends VideoTasksOptions {
  readonly accounts: AccountProviders;
  readonly pacer: PollPacer;
  readonly holds: Holds;
  readonly materials: Materials;
  readonly deliveries: Deliveries;
  readonly copies: ResultCopies;
}
