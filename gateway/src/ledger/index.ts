/**
 * ledger: remembers every attempt, exactly once, and what it cost.
 * Words: an intent is written before an attempt is sent, checkpoints while it streams, a settlement when it ended;
 * together they are one entry. A refusal is an entry of a call that never became an attempt.
 * recorder writes them ahead into the journal; recover turns what a dead process left into entries before the port
 * opens, adoption what dead siblings left while this one runs; verify proves the books; export hands them out.
 * When the world is down: without a journal nothing is sent (ledger_unavailable), but what was sent is settled as
 * soon as the disk takes it; a database that is down only makes the journal longer; an attempt whose process died is
 * settled as interrupted, at what its last checkpoint says.
 */

export { type AdoptionHooks, startAdoption } from "./adoption.ts";
export { type Attempt, type AttemptEnd, type AttemptFields, type Reached, rawUsageWithin } from "./attempt.ts";
export { type ExportFormat, exportEntries } from "./export.ts";
export { createRecorder, type Recorder } from "./recorder.ts";
export { recover } from "./recover.ts";
export { verifyLedger } from "./verify.ts";
export { wholeUsage } from "./whole-usage.ts";
