/**
 * The second entry point of storage, for modules with tables of their own (`directory`, `tasks`, `assets`): connections, tables and
 * columns, leases, writes with their audit rows or ledger entries, and what is sealed.
 */

export { type AuditedObject, insertRows, removeRows, suspendRows, updateRow } from "./changes/audited-rows.ts";
export { type AuditedWrite, auditedWrite } from "./changes/audited-write.ts";
export { lastChange } from "./changes/change-feed.ts";
export { columnsOf, membersOf } from "./database/columns.ts";
export { contains, endsWith, startsWith } from "./database/conditions.ts";
export { type Connection, type Database, heldRows, inSnapshot, relaxedWrite } from "./database/database.ts";
export { leaseIsFree, newLeaseToken, underDueLease, updateDue } from "./database/leases.ts";
export { cursorOf, cutPage, isBehind, type Place, pageSize, placeOf } from "./database/pages.ts";
export { peopleLock } from "./database/people-tables.ts";
export { priceOf } from "./database/price-rows.ts";
export { chunksOf, reconcile } from "./database/reconcile.ts";
export type { ManagedBy, NewRow, Row, Tables } from "./database/schema.ts";
export {
  budgetOf,
  changedScope,
  limitScope,
  limitsOf,
  patternsOf,
  patternsText,
  personScope,
  type ScopeColumns,
  scopeColumns,
} from "./database/scope-columns.ts";
export { writtenOnce } from "./database/written-once.ts";
export { consoleKeyOf, consoleKeys } from "./keys/console-keys.ts";
export { changedColumns, fieldsOf, type KeyFieldChange, newColumns, saidFields } from "./keys/key-fields.ts";
export {
  boundsOf,
  boundsText,
  type CallerKeyRow,
  callerKeys,
  everyBound,
  type KeyRow,
  keyByOldSecret,
  keyOf,
  type NamedKeyRow,
  namedKeys,
  recognition,
} from "./keys/key-rows.ts";
export { ledgerWriter } from "./ledger/ledger-insert.ts";
export { hashPassword } from "./vault/password.ts";
export {
  accountSealId,
  channelSealId,
  openedSettings,
  sealedAgain,
  sealId,
  tokenSealId,
} from "./vault/sealed-columns.ts";
