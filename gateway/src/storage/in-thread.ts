/** The third entry point of storage: reading the database in a thread of another module (`rehearsal`). */

export type { Connection, Database } from "./database/database.ts";
export { type DatabasePlace, threadDatabase, threadPlace } from "./database/database-place.ts";
export { limitScope, scopeColumns } from "./database/scope-columns.ts";
export { usageOf } from "./journal/journal-record.ts";
export { callerKeyReader } from "./keys/keys.ts";
export { prunedBefore } from "./ledger/ledger-prune.ts";
export { hourMs } from "./ledger/ledger-rollup.ts";
export {
  type PastCapture,
  type PastCheck,
  type PastChecksQuery,
  pastCaptures,
  pastRefusals,
  pastVerdicts,
  refusalsOf,
} from "./ledger/past-captures.ts";
export { type PastEntry, pastEndpoints, pastEntryReader } from "./ledger/past-entries.ts";
export { SpentUntil } from "./reports/spent-until.ts";
