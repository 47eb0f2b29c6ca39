import { sql } from "kysely";
import { type Connection, type Database, databaseNow } from "../database/database.ts";
import { hasCode } from "../disk/files.ts";

/** Months created ahead, and how far from today a month may be. */
export const ledgerMonthsAhead = 2;
const ledgerMonthsPastMs = 3_650 * 86_400_000;
const ledgerMonthsFutureMs = 63 * 86_400_000;
/** Months that a writer remembers, and batches until it retries a failed one. */
const ledgerMonthsCachedMax = 240;
export const ledgerMonthBatches = 64;
/** Timeouts of creating a month: in all, and for locks. */
const ledgerPartitionMs = 2_000;
const ledgerLockMs = 300;

/**
 * PostgreSQL: the ledger is partitioned by month (UTC) of `at`: `ledger_entries_2026_11`; entries without a partition are in
 * `ledger_entries_default`. SQLite has no partitions.
 * The returned function creates the partitions of a batch. It remembers them, so that it asks the database once a month. After a failure
 * it retries some batches later; until then the entries are in the default partition, and are moved when theirs is created.
 */
export function monthMaker(database: Database): (moments: readonly number[]) => Promise<void> {
  /** Batches to skip, by month. */
  const months = new Map<number, number>();
  return async (moments) => {
    for (const month of new Set(moments.map(monthOf))) {
      const batches = months.get(month) ?? 0;
      if (batches > 0) months.set(month, batches - 1);
      if (batches > 0 || !Number.isFinite(month)) continue;
      if (months.size >= ledgerMonthsCachedMax) months.clear();
      const made = createPartition(database, month).then(
        () => Number.POSITIVE_INFINITY,
        () => ledgerMonthBatches,
      );
      months.set(month, await made);
    }
  };
}

/** Creates the next months, and those of entries in the default partition. Resolves to the number created. */
export async function createPartitions(database: Database, now: number): Promise<number> {
  if (database.flavour.name === "sqlite") return 0;
  const months = new Set<number>();
  for (let ahead = 0, month = monthOf(now); ahead <= ledgerMonthsAhead; ahead++, month = nextMonth(month)) {
    months.add(month);
  }
  for (const month of await monthsInDefault(database, now)) months.add(month);
  let made = 0;
  for (const month of months) if (await createPartition(database, month)) made += 1;
  return made;
}

/** A partition and the times of its entries; null: any. */
export interface LedgerPartition {
  readonly name: string;
  readonly from: number | null;
  readonly until: number | null;
}

export async function ledgerPartitions({
  kysely,
}: {
  readonly kysely: Connection;
}): Promise<readonly LedgerPartition[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'ledger_entries'::regclass order by c.relname`.execute(kysely);
  return rows.map(({ name, bound }) => {
    const [, from, until] = /FROM \('?(-?\d+)'?\) TO \('?(\d+)'?\)/.exec(bound) ?? [];
    return { name, from: from === undefined ? null : Number(from), until: until === undefined ? null : Number(until) };
  });
}

async function hasPartition(connection: Connection, at: number): Promise<boolean> {
  const parts = await ledgerPartitions({ kysely: connection });
  return parts.some(({ from, until }) => from !== null && until !== null && from <= at && at < until);
}

/** Drops a partition. Waits only briefly for readers, because inserts queue behind it. False: they took longer; try again. */
export async function dropPartition({ kysely }: Database, { name }: LedgerPartition): Promise<boolean> {
  try {
    await kysely.transaction().execute(async (transaction) => {
      await boundedLocks(transaction, ledgerLockMs);
      await sql`lock table only ledger_entries in access exclusive mode`.execute(transaction);
      await sql`drop table if exists ${sql.table(name)}`.execute(transaction);
    });
    return true;
  } catch (thrown) {
    // lock_not_available
    if (hasCode(thrown, /^55P03$/)) return false;
    throw thrown;
  }
}

/** Start of a month, Unix milliseconds. */
function monthOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function nextMonth(month: number): number {
  const date = new Date(month);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/**
 * Moves its entries out of the default partition. False: it exists, or is too far from today by the server's clock: entries of wrong
 * clocks stay in the default partition. Only inserts into the default partition wait.
 */
async function createPartition(database: Database, month: number): Promise<boolean> {
  const until = nextMonth(month);
  return await database.kysely.transaction().execute(async (transaction) => {
    const { now } = await transaction.selectNoFrom(databaseNow(database).as("now")).executeTakeFirstOrThrow();
    if (month < now - ledgerMonthsPastMs || month > now + ledgerMonthsFutureMs) return false;
    if (await hasPartition(transaction, month)) return false;
    await boundedLocks(transaction, ledgerPartitionMs);
    // The second of two concurrent calls finds it created. Lock the table before its partitions.
    await sql`lock table only ledger_entries in share update exclusive mode`.execute(transaction);
    if (await hasPartition(transaction, month)) return false;
    await sql`lock table ledger_entries_default in access exclusive mode`.execute(transaction);
    const part = sql.table(nameOf(month));
    const within = sql`at >= ${sql.lit(month)} and at < ${sql.lit(until)}`;
    await sql`create table ${part} (like ledger_entries including defaults)`.execute(transaction);
    await sql`
      with moved as (delete from ledger_entries_default where ${within} returning *)
      insert into ${part} select * from moved`.execute(transaction);
    await sql`
      alter table ledger_entries attach partition ${part} for values from (${sql.lit(month)}) to (${sql.lit(until)})
    `.execute(transaction);
    return true;
  });
}

async function monthsInDefault({ kysely }: Database, now: number): Promise<readonly number[]> {
  const months: number[] = [];
  const last = now + ledgerMonthsFutureMs;
  for (let from = now - ledgerMonthsPastMs; ; ) {
    const { rows } = await sql<{ at: number | null }>`
      select min(at) as at from ledger_entries_default where at between ${from} and ${last}`.execute(kysely);
    const at = rows[0]?.at ?? null;
    if (at === null) return months;
    const month = monthOf(at);
    months.push(month);
    from = nextMonth(month);
  }
}

async function boundedLocks(transaction: Connection, ms: number): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(ms)}`.execute(transaction);
}

function nameOf(month: number): string {
  return `ledger_entries_${new Date(month).toISOString().slice(0, 7).replace("-", "_")}`;
}
