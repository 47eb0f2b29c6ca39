import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from "kysely";
import type { LedgerFilter, LedgerPage } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { cursorOf, cutPage, isBehind, pageSize, placeOf } from "../database/pages.ts";
import type { Tables } from "../database/schema.ts";
import { entryOf, ledgerColumns } from "./ledger-columns.ts";

/** One page of entries, newest first. The cursor is the last entry's place, so that new entries move nothing. */
export async function ledgerPage(
  database: Database,
  filter: LedgerFilter,
  cursor: string | null,
  limit: number,
): Promise<LedgerPage> {
  const size = pageSize(limit);
  const after = cursor === null ? null : placeOf(cursor);
  let query = database.kysely
    .selectFrom("ledger_entries")
    .select(ledgerColumns)
    .where((eb) => matches(eb, filter))
    .orderBy("at", "desc")
    .orderBy("attempt_id", "desc")
    // One more than asked for tells whether there is a following page.
    .limit(size + 1);
  if (after !== null) {
    query = query.where(isBehind(["at", "attempt_id"], after));
  }
  const rows = await query.execute();
  const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.at, id: last.attempt_id }));
  return { entries: page.map(entryOf), next };
}

export function matches(
  eb: ExpressionBuilder<Tables, "ledger_entries">,
  filter: LedgerFilter,
): ExpressionWrapper<Tables, "ledger_entries", SqlBool> {
  const terms: ExpressionWrapper<Tables, "ledger_entries", SqlBool>[] = [];
  if (filter.workspaceId !== undefined) terms.push(eb("workspace_id", "=", filter.workspaceId));
  if (filter.groupId !== undefined) terms.push(eb("group_id", "=", filter.groupId));
  if (filter.keyId !== undefined) terms.push(eb("key_id", "=", filter.keyId));
  if (filter.personId !== undefined) terms.push(eb("person_id", "=", filter.personId));
  if (filter.model !== undefined) terms.push(eb("model", "=", filter.model));
  if (filter.provider !== undefined) terms.push(eb("provider", "=", filter.provider));
  if (filter.outcome !== undefined) terms.push(eb("outcome", "=", filter.outcome));
  if (filter.requestId !== undefined) terms.push(eb("request_id", "=", filter.requestId));
  if (filter.from !== undefined) terms.push(eb("at", ">=", filter.from));
  if (filter.to !== undefined) terms.push(eb("at", "<", filter.to));
  return eb.and(terms);
}
