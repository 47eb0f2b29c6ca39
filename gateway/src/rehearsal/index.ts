/**
 * rehearsal: the effect that a change of limits, budgets, grants, prices, routes and guardrails would have had on past calls. A job reads the
 * ledger's entries of a period in order and replays them through admission, grants, routing and settlement, on a pretend clock, in a
 * separate thread. Guardrails check the captured bodies of the calls there.
 *
 * Promises: the running gateway is not touched, and nothing is written except the job's row. A job runs
 * in one process, can be canceled from each, and expires after a day. If its process ends, or the database is down for long, it fails.
 */
export { ChangeFault } from "./change/change-fault.ts";
export { resolveChange } from "./change/resolve-change.ts";
export { RehearsalStore } from "./jobs/rehearsal-store.ts";
export { Rehearsals } from "./jobs/rehearsals.ts";
export { RehearsalRun } from "./replay/rehearsal-run.ts";
