/**
 * ledger: records every attempt exactly once, with its cost.
 *
 * An *intent* is written before an attempt is sent, *checkpoints* while its answer streams, and a *settlement* at its end; together they
 * form one *entry*. A *refusal* is the entry of a call that never became an attempt.
 *
 * `adjustments` books money without a call, such as an accepted difference to a vendor's bill.
 *
 * `recorder` writes to the journal, `recover` turns the journal of a dead process into entries at the next start, `adoption` does the
 * same while this process runs, `verify` checks the ledger, `export` streams it, and
 * `focus` streams its costs in the FOCUS format.
 *
 * If the journal cannot be written, nothing is sent (ledger_unavailable), and settlements of sent attempts are buffered. If the database
 * is down, the journal grows. The attempt of a dead process is settled as interrupted, with the usage of its last checkpoint.
 */

export {
  type Adjustments,
  adjustmentEntry,
  createAdjustments,
  type OwnedAdjustment,
  splitByWeight,
} from "./adjustments.ts";
export { type AdoptionHooks, startAdoption } from "./adoption.ts";
export { type Attempt, type AttemptEnd, type AttemptFields, type Reached, rawUsageWithin } from "./attempt.ts";
export { type ExportFormat, exportEntries } from "./export.ts";
export { type FocusRange, focusCsv, focusEnd, focusHeader, focusRange } from "./focus.ts";
export { createRecorder, type Recorder } from "./recorder.ts";
export { recover } from "./recover.ts";
export { verifyLedger } from "./verify.ts";
export { wholeUsage } from "./whole-usage.ts";
