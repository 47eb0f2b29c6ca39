import { sql } from "kysely";
import { type Connection, type Database, databaseNow } from "../database/database.ts";
import { hasCode } from "../disk/files.ts";

/** Months that are made ahead, and how far from today one may be. */
export const ledgerMonthsAhead = 2;
const ledgerMonthsPastMs = 3_650 * 86_400_000;
const ledgerMonthsFutureMs = 63 * 86_400_000;
/** Months that a writer remembers, and the batches after which it tries again to make one. */
const ledgerMonthsKnownMax = 240;
export const ledgerMonthBatches = 64;
/** How long making a month may take, and how long it may wait for locks. */
const ledgerPartMs = 2_000;
const ledgerLockMs = 300;

/**
 * On PostgreSQL the ledger is one table in parts, one for each month (UTC) by `at`: `ledger_entries_2026_11`. What has no month
 * stands in `ledger_entries_default`. On SQLite there are no parts, and nothing here does anything.
 *
 * The function makes the months of these moments, where there is reason to. It is asked before each batch, and remembers which months
 * there are, so that it asks the database once a month. One that could not be made is tried again some batches later: until then its
 * entries have a place in the default part, and are moved when it is made.
 */
export function monthMaker(database: Database): (moments: readonly number[]) => Promise<void> {
  /** By month, how many batches it is left alone. */
  const known = new Map<number, number>();
  return async (moments) => {
    for (const month of new Set(moments.map(monthOf))) {
      const batches = known.get(month) ?? 0;
      if (batches > 0) known.set(month, batches - 1);
      if (batches > 0 || !Number.isFinite(month)) continue;
      if (known.size >= ledgerMonthsKnownMax) known.clear();
      const made = makeMonth(database, month).then(
        () => Number.POSITIVE_INFINITY,
        () => ledgerMonthBatches,
      );
      known.set(month, await made);
    }
  };
}

/** The months that are next, and those of entries that came before their month did. Resolves to how many were made. */
export async function makeMonths(database: Database, now: number): Promise<number> {
  if (database.flavour.name === "sqlite") return 0;
  const months = new Set<number>();
  for (let ahead = 0, month = monthOf(now); ahead <= ledgerMonthsAhead; ahead++, month = nextMonth(month)) {
    months.add(month);
  }
  for (const month of await monthsInDefault(database, now)) months.add(month);
  let made = 0;
  for (const month of months) if (await makeMonth(database, month)) made += 1;
  return made;
}

/** A part of the ledger and the moments that its entries began between; null: it may hold any. */
export interface LedgerPart {
  readonly name: string;
  readonly from: number | null;
  readonly until: number | null;
}

export async function ledgerParts({ kysely }: { readonly kysely: Connection }): Promise<readonly LedgerPart[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'ledger_entries'::regclass order by c.relname`.execute(kysely);
  return rows.map(({ name, bound }) => {
    const [, from, until] = /FROM \('?(-?\d+)'?\) TO \('?(\d+)'?\)/.exec(bound) ?? [];
    return { name, from: from === undefined ? null : Number(from), until: until === undefined ? null : Number(until) };
  });
}

async function hasPart(connection: Connection, at: number): Promise<boolean> {
  const parts = await ledgerParts({ kysely: connection });
  return parts.some(({ from, until }) => from !== null && until !== null && from <= at && at < until);
}

/**
 * Drops a part, whole. Readers of the ledger are waited for a moment only: whoever inserts waits behind us meanwhile. False when
 * they took longer; it is to be tried again.
 */
export async function dropPart({ kysely }: Database, { name }: LedgerPart): Promise<boolean> {
  try {
    await kysely.transaction().execute(async (transaction) => {
      await boundedLocks(transaction, ledgerLockMs);
      await sql`lock table only ledger_entries in access exclusive mode`.execute(transaction);
      await sql`drop table if exists ${sql.table(name)}`.execute(transaction);
    });
    return true;
  } catch (thrown) {
    // The wait for a lock took too long.
    if (hasCode(thrown, /^55P03$/)) return false;
    throw thrown;
  }
}

/** The first moment of a month, in Unix milliseconds. */
function monthOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function nextMonth(month: number): number {
  const date = new Date(month);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/**
 * False when it is there, or too far from today by the server's clock: entries of clocks that are wrong stay in the default part.
 * What that part holds of the month is moved. Others insert meanwhile, but for those whose entries would go there.
 */
async function makeMonth(database: Database, month: number): Promise<boolean> {
  const until = nextMonth(month);
  return await database.kysely.transaction().execute(async (transaction) => {
    const { now } = await transaction.selectNoFrom(databaseNow(database).as("now")).executeTakeFirstOrThrow();
    if (month < now - ledgerMonthsPastMs || month > now + ledgerMonthsFutureMs) return false;
    if (await hasPart(transaction, month)) return false;
    await boundedLocks(transaction, ledgerPartMs);
    // Of two that make months at once the second finds it made. The order of locks is everybody's: first the whole, then parts.
    await sql`lock table only ledger_entries in share update exclusive mode`.execute(transaction);
    if (await hasPart(transaction, month)) return false;
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
