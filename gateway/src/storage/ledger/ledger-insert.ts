import type { LedgerEntry } from "#core/index.ts";
import { BulkStatement } from "../database/bulk-statement.ts";
import type { Connection, Database } from "../database/database.ts";
import type { NewRow } from "../database/schema.ts";
import { bindEntry, ledgerColumns } from "./ledger-columns.ts";
import { bindRollup, rollupColumns, rollupScope, rollupSums, rollupsOf } from "./ledger-rollup.ts";

/**
 * Makes the function that puts entries into the ledger and moves the rollups by exactly those that were new, in one
 * transaction. Giving an entry twice, in one batch or in two, counts once.
 */
export function ledgerInsert(database: Database): (entries: readonly LedgerEntry[]) => Promise<number> {
  const write = ledgerWriter(database);
  return async (entries) => {
    if (entries.length === 0) return 0;
    return await database.kysely.transaction().execute((transaction) => write(transaction, entries));
  };
}

export type LedgerWriter = (transaction: Connection, entries: readonly LedgerEntry[]) => Promise<number>;

/** The same for a transaction that writes something else with it. */
export function ledgerWriter(database: Database): LedgerWriter {
  const intoLedger = entryStatement(database);
  const intoRollups = rollupStatement(database);
  return async (transaction, entries) => {
    const inserted = new Set<string>();
    await intoLedger.run(entries, bindEntry, async (query) => {
      const { rows } = await transaction.executeQuery(query);
      for (const row of rows) inserted.add(row.attempt_id);
    });
    const count = inserted.size;
    if (count === 0) return 0;
    // delete: of an entry that is in the batch twice, only the first was inserted.
    const fresh = entries.filter((entry) => inserted.delete(entry.attemptId));
    await intoRollups.run(rollupsOf(fresh), bindRollup, async (query) => {
      await transaction.executeQuery(query);
    });
    return count;
  };
}

function entryStatement(database: Database): BulkStatement<{ attempt_id: string }> {
  const row = placeholders(ledgerColumns) as NewRow<"ledger_entries">;
  return new BulkStatement(ledgerColumns.length, database.flavour.parametersMax, (rows) =>
    database.kysely
      .insertInto("ledger_entries")
      .values(Array.from({ length: rows }, () => row))
      .onConflict((conflict) => conflict.column("attempt_id").doNothing())
      .returning("attempt_id")
      .compile(),
  );
}

function rollupStatement(database: Database): BulkStatement<unknown> {
  const row = placeholders(rollupColumns) as NewRow<"usage_rollups">;
  return new BulkStatement(rollupColumns.length, database.flavour.parametersMax, (rows) =>
    database.kysely
      .insertInto("usage_rollups")
      .values(Array.from({ length: rows }, () => row))
      .onConflict((conflict) =>
        conflict.columns([...rollupScope]).doUpdateSet((eb) => {
          const moved = rollupSums.map((sum) => [sum, eb(`usage_rollups.${sum}`, "+", eb.ref(`excluded.${sum}`))]);
          return Object.fromEntries(moved);
        }),
      )
      .compile(),
  );
}

/** A row that stands for any row: only its columns and their order reach the statement. */
function placeholders(columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column, 0]));
}
