/**
 * The second entry point of storage, for `directory` alone: connections, tables and columns, writes with their audit rows,
 * and what is sealed.
 */

export { type AuditedObject, insertRows, removeRows, suspendRows, updateRow } from "./changes/audited-rows.ts";
export { type AuditedWrite, auditedWrite } from "./changes/audited-write.ts";
export { lastChange } from "./changes/change-feed.ts";
export { type Connection, type Database, inSnapshot, relaxedWrite } from "./database/database.ts";
export { cursorOf, cutPage, isBehind, placeOf } from "./database/pages.ts";
export { peopleLock } from "./database/people-tables.ts";
export { priceOf } from "./database/price-rows.ts";
export { chunksOf, reconcile } from "./database/reconcile.ts";
export type { ManagedBy, Row, Tables } from "./database/schema.ts";
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
export { contains, endsWith, startsWith } from "./database/text-search.ts";
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
export { hashPassword } from "./vault/password.ts";
export { openedSettings, sealedAgain, sealId, tokenSealId } from "./vault/sealed-columns.ts";
