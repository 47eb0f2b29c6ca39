import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { createSoleLeadership } from "#coordination/index.ts";
import { bounds, type LedgerEntry } from "#core/index.ts";
import { createLedgerStore, type Database, openPostgres } from "#storage/index.ts";
import { ledgerMonthBatches, ledgerMonthsAhead } from "#storage/ledger/ledger-months.ts";
import { until } from "../../../test/until.ts";
import { keepLedger } from "../../src/main/upkeep.ts";
import { isRowFault } from "../../src/storage/disk/drain-set-aside.ts";
import { ledgerEntry, silentObserver } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { begun, untilWaiting } from "../held-transactions.ts";
import { asOwner, openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

/** A month that no other test uses, so that its partition does not exist yet. */
const march = Date.UTC(2024, 2, 1);
const april = Date.UTC(2024, 3, 1);
const hour = 3_600_000;

const entryAt = (name: string, at: number): LedgerEntry =>
  ledgerEntry(name, { at, priceVersion: null, costNanoUsd: 0 });

/** The partitions of these attempts. */
async function partsOf({ kysely }: Database): Promise<Record<string, string>> {
  const { rows } = await sql<{ attempt: string; part: string }>`
    select attempt_id as attempt, tableoid::regclass::text as part from ledger_entries`.execute(kysely);
  return Object.fromEntries(rows.map(({ attempt, part }) => [attempt, part]));
}

async function dropMonth({ kysely }: Database, month: string): Promise<void> {
  await sql`drop table if exists ${sql.table(`ledger_entries_${month}`)}`.execute(kysely);
}

await onPostgres("ledger partitions", () => {
  test("reports an entry that no index accepts as faulty, and stores the others", async () => {
    await using fixture = await openPostgresFixture();
    const requestId = Array.from({ length: 200 }, (_, n) => createHash("sha256").update(`${n}`).digest("hex")).join("");
    const store = createLedgerStore(fixture.database);
    const refused = await store.insert([{ ...entryAt("long", march), requestId }]).catch((thrown: unknown) => thrown);
    expect(isRowFault(refused)).toBe(true);
  });

  test("many writers without a partition for the month create it once and lose nothing", async () => {
    await using fixture = await openPostgresFixture();
    await dropMonth(fixture.database, "2024_03");
    const stores = Array.from({ length: 6 }, () => createLedgerStore(fixture.database));
    const batch = (writer: number) =>
      Array.from({ length: 20 }, (_, n) => entryAt(`${writer % 3}_${n}`, march + n * hour));
    const inserted = await Promise.all(stores.map((store, writer) => store.insert(batch(writer))));
    expect(inserted.reduce((a, b) => a + b)).toBe(60);
    expect(new Set(Object.values(await partsOf(fixture.database)))).toEqual(new Set(["ledger_entries_2024_03"]));
    expect((await stores[0]?.check())?.faults).toEqual([]);
  });

  test("stores and reads entries without a monthly partition in the default one, and moves them later", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const store = createLedgerStore(database);
    await store.insert([entryAt("first", march)]);
    await dropMonth(database, "2024_03");
    await sql`delete from usage_rollups`.execute(database.kysely);
    // This store assumes that the partition exists.
    const entries = [entryAt("late", march + hour), entryAt("next", april), entryAt("far", Date.UTC(2095, 1, 1))];
    expect(await store.insert(entries)).toBe(3);
    expect(await partsOf(database)).toMatchObject({
      att_late: "ledger_entries_default",
      att_far: "ledger_entries_default",
    });
    expect((await store.page({ to: april }, null, 5)).entries.map(({ attemptId }) => attemptId)).toEqual(["att_late"]);
    expect(await createLedgerStore(database).createPartitions(march)).toBeGreaterThan(0);
    expect(await partsOf(database)).toMatchObject({
      att_late: "ledger_entries_2024_03",
      att_far: "ledger_entries_default",
    });
    expect(await createLedgerStore(database).insert(entries)).toBe(0);
    const check = await store.check();
    expect([check.entries, check.faults]).toEqual([3, []]);
    expect(await createLedgerStore(database).createPartitions(march)).toBe(0);
  });

  test("a writer that cannot create a month continues without it, and creates it later", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    await dropMonth(database, "2024_03");
    const store = createLedgerStore(database);
    const held = await begun(database.kysely as never, "lock table only ledger_entries in share update exclusive mode");
    expect(await store.insert([entryAt("0", march)])).toBe(1);
    expect(await partsOf(database)).toEqual({ att_0: "ledger_entries_default" });
    await held();
    for (let n = 1; n <= ledgerMonthBatches + 1; n++) await store.insert([entryAt(String(n), march + n)]);
    expect(new Set(Object.values(await partsOf(database)))).toEqual(new Set(["ledger_entries_2024_03"]));
    const check = await store.check();
    expect([check.entries, check.faults]).toEqual([ledgerMonthBatches + 2, []]);
  });

  test("an entry written to the default partition while its month is split off ends up in the month", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const store = createLedgerStore(database);
    await store.insert([entryAt("first", march)]);
    await dropMonth(database, "2024_03");
    const cut = await begun(
      database.kysely as never,
      `lock table ledger_entries_default in access exclusive mode;
       create table ledger_entries_2024_03 (like ledger_entries including defaults);
       alter table ledger_entries attach partition ledger_entries_2024_03 for values from (${march}) to (${april})`,
    );
    const inserted = store.insert([entryAt("now", march + 1)]);
    await untilWaiting(url, 1);
    await cut();
    expect(await inserted).toBe(1);
    expect(await partsOf(database)).toEqual({ att_now: "ledger_entries_2024_03" });
  });

  test("a killed fold has no effect, and the next one folds everything once", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const store = createLedgerStore(database);
    for (let n = 0; n < 8; n++) await store.insert([ledgerEntry(`k${n}`, { at: march, priceVersion: null })]);
    expect(await store.fold(4)).toBe(4);
    const before = await store.usage({});
    const holding = await begun(database.kysely as never, "select 1 from only usage_rollups for update");
    const folding = await openPostgres({ url, poolSize: 1 });
    // It has deleted its rows and waits to add them up.
    const fold = createLedgerStore(folding)
      .fold()
      .then(
        () => "folded",
        () => "failed",
      );
    const [killed] = await untilWaiting(url, 1);
    await asOwner(url, async (client) => void (await client.query("select pg_terminate_backend($1)", [killed])));
    expect(await fold).toBe("failed");
    await folding.close();
    await holding();
    expect(await store.usage({})).toEqual(before);
    expect((await store.check()).faults.map(({ rule }) => rule)).not.toContain("a rollup is the sum of its entries");
    expect(await store.fold()).toBe(4);
    expect(await store.fold()).toBe(0);
    expect(await store.usage({})).toEqual(before);
  });

  test("drops a month once its readers are done; writers wait only briefly", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const store = createLedgerStore(database);
    await store.insert([entryAt("old", march), entryAt("new", april)]);
    const reading = await begun(database.kysely as never, "select count(*) from ledger_entries");
    const pruned = store.prune(april);
    await untilWaiting(url, 1);
    // Writers queue behind the drop, which waits for a reader. The drop times out, so they continue while the reader
    // still reads.
    expect(await store.insert([entryAt("meanwhile", april + 1)])).toBe(1);
    await reading();
    expect(await pruned).toBe(1);
    expect(await partsOf(database)).toEqual({
      att_new: "ledger_entries_2024_04",
      att_meanwhile: "ledger_entries_2024_04",
    });
    const { rows } = await sql<{ gone: number }>`select to_regclass('ledger_entries_2024_03') is null as gone`.execute(
      database.kysely,
    );
    expect(rows).toEqual([{ gone: 1 }]);
  });

  test("a gateway folds new entries and creates months ahead until it is stopped", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const ledgerStore = createLedgerStore(database);
    await dropMonth(database, "2024_04");
    await dropMonth(database, "2024_05");
    await ledgerStore.insert([entryAt("early", march)]);
    const clock = new FakeClock(march);
    const leadership = createSoleLeadership({ owner: "proc_1", clock, observer: silentObserver });
    const stop = keepLedger({ database, ledgerStore, clock, observer: silentObserver, leadership });
    const tail = async () => {
      const { rows } = await sql<{ rows: number }>`select count(*) as rows from usage_rollups_tail`.execute(
        database.kysely,
      );
      return rows[0]?.rows;
    };
    await until(async () => (await tail()) === 0);
    await ledgerStore.insert([entryAt("later", march + hour)]);
    await until(async () => {
      clock.advance(bounds.foldIdleMs);
      return (await tail()) === 0;
    });
    const { rows } = await sql<{ there: number }>`
      select to_regclass('ledger_entries_2024_05') is not null as there`.execute(database.kysely);
    expect(rows).toEqual([{ there: 1 }]);
    await stop();
    await ledgerStore.insert([entryAt("last", march + hour)]);
    clock.advance(bounds.foldIdleMs);
    expect(await tail()).toBe(1);
  });

  test("creates many months in advance, and an entry takes one statement", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const now = Date.now();
    const store = createLedgerStore(database);
    await store.createPartitions(now);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_inherits where inhparent = 'ledger_entries'::regclass`.execute(database.kysely);
    expect(rows[0]?.count).toBeGreaterThanOrEqual(ledgerMonthsAhead + 2);
    await store.insert([entryAt("today", now)]);
    expect(Object.values(await partsOf(database))).not.toContain("ledger_entries_default");
  });
});
