import type { LedgerStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { priceReader } from "../database/price-rows.ts";
import { chunksOf } from "../database/reconcile.ts";
import { countChecks, insertChecks } from "./guardrail-checks.ts";
import { checkLedger } from "./ledger-check.ts";
import { sumDay } from "./ledger-days.ts";
import { foldRollups } from "./ledger-fold.ts";
import { sumHours } from "./ledger-hours.ts";
import { ledgerInsert } from "./ledger-insert.ts";
import { createPartitions } from "./ledger-months.ts";
import { pruneLedger } from "./ledger-prune.ts";
import { ledgerPage, recentEntries, usageByModel, usageShares } from "./ledger-reading.ts";

/** Any number of stores may insert into one database concurrently. */
export function createLedgerStore(database: Database): LedgerStore {
  const price = priceReader(database.kysely);
  return {
    insert: ledgerInsert(database),
    insertChecks: (checks) => insertChecks(database, checks),
    countChecks: (hours) => countChecks(database, hours),
    page: (filter, cursor, limit) => ledgerPage(database, filter, cursor, limit),
    recent: (sinceMs, untilMs) => recentEntries(database, sinceMs, untilMs),
    usage: (filter) => usageByModel(database, filter),
    shares: (filter) => usageShares(database, filter),
    price,
    check: () => checkLedger(database, price),
    fold: (rowsMax) => foldRollups(database, rowsMax),
    sumDay: (now) => sumDay(database, now),
    sumHours: (now) => sumHours(database, now),
    createPartitions: (now) => createPartitions(database, now),
    prune: (beforeMs) => pruneLedger(database, beforeMs),
  };
}

/** How many of these attempts, none of which began before `since`, have no entry in the ledger. */
export async function countNotInLedger(
  database: Database,
  attemptIds: readonly string[],
  since: number,
): Promise<number> {
  let missing = attemptIds.length;
  for (const ids of chunksOf(attemptIds)) {
    const entries = database.kysely.selectFrom("ledger_entries").select("attempt_id").where("at", ">=", since);
    missing -= (await entries.where("attempt_id", "in", ids).execute()).length;
  }
  return missing;
}
