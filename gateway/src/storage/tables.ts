/** The second entry point of storage, for modules with their own tables (`directory`, `tasks`, `assets`, `files`, `sign-in`). */

export { type AuditedObject, insertRows, removeRows, suspendRows, updateRow } from "./changes/audited-rows.ts";
export { type AuditedWrite, auditedWrite } from "./changes/audited-write.ts";
export { lastChange } from "./changes/change-feed.ts";
export { compiledOnce as writtenOnce } from "./database/compiled-once.ts";
export * from "./database/conditions.ts";
export {
  type Connection,
  type Database,
  deleteInBatches,
  inSnapshot,
  lockRows as heldRows,
  relaxedWrite,
} from "./database/database.ts";
export * from "./database/leases.ts";
export * from "./database/pages.ts";
export { priceOf } from "./database/price-rows.ts";
export { chunksOf, reconcile, sameRow } from "./database/reconcile.ts";
export * from "./database/rows.ts";
export type { ManagedBy, NewRow, Row, Tables } from "./database/schema.ts";
export * from "./database/scope-columns.ts";
export { putSystemValue, systemValue } from "./database/system-values.ts";
export * from "./keys/keys.ts";
export { ledgerWriter } from "./ledger/ledger-insert.ts";
export { prunedBefore } from "./ledger/ledger-prune.ts";
export { hashPassword } from "./vault/password.ts";
export * from "./vault/sealed-columns.ts";
