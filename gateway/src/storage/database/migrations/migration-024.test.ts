import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerEntry, newYear, silentObserver } from "../../../../test/conformance/store-ground.ts";
import { FakeClock } from "../../../../test/fake-clock.ts";
import { createLedgerStore } from "../../ledger/ledger-store.ts";
import { createReportStore } from "../../reports/report-store.ts";
import { closeDatabase, type Database } from "../database.ts";
import { histogramColumns } from "../latency-histogram.ts";
import { migrate, migrations } from "../migrate.ts";
import { openDatabase } from "../open-database.ts";

const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "024"));
const hour = 3_600_000;
const ends = Array.from({ length: 13 }, (_, n) => 50 * 2 ** n);

/** What the version before counted of an entry that took so long. */
function spanColumn(columns: readonly string[], ms: number): string {
  const span = ends.findIndex((end) => ms <= end);
  return columns.at(span) ?? "";
}

const entryAt = (n: number, at: number, totalMs: number) =>
  ledgerEntry(`e${n}`, { at, totalMs, startedAfterMs: 0, firstTokenMs: totalMs / 4 });

/** A database of the version before with these entries, written as it wrote them. */
async function oldDatabase(path: string, entries: ReturnType<typeof entryAt>[]): Promise<Database> {
  const [old, made] = [openDatabase({ path }), openDatabase({ path: ":memory:" })];
  await migrate(old, before);
  await migrate(made);
  await createLedgerStore(made).insert(entries);
  const tables = await old.kysely.introspection.getTables();
  const known = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)));
  const asBefore = (row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => known.has(name)));
  const rows = await made.kysely.selectFrom("usage_rollups").selectAll().execute();
  for (const row of rows) {
    const counts: Record<string, number> = {};
    for (const { totalMs, firstTokenMs } of entries.filter(({ at }) => at - (at % hour) === row.hour)) {
      for (const column of [
        spanColumn(histogramColumns.total_ms, totalMs),
        spanColumn(histogramColumns.first_token_ms, firstTokenMs ?? 0),
      ]) {
        counts[column] = (counts[column] ?? 0) + 1;
      }
    }
    await old.kysely
      .insertInto("usage_rollups")
      .values({ ...asBefore(row), ...counts } as never)
      .execute();
  }
  const entryRows = await made.kysely.selectFrom("ledger_entries").selectAll().execute();
  await old.kysely
    .insertInto("ledger_entries")
    .values(entryRows.map(asBefore) as never)
    .execute();
  await closeDatabase(made);
  return old;
}

test("rollups of before keep their sums and counts, add up with new ones, and what is read of them is marked", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-migrate-"));
  const path = join(directory, "sluice.db");
  const entries = Array.from({ length: 400 }, (_, n) => entryAt(n, newYear + (n % 2) * hour, 400 + 2 * n));
  const database = await oldDatabase(path, entries);
  const reports = createReportStore({ databasePath: path, clock: new FakeClock(newYear), observer: silentObserver });
  try {
    const sums = await createLedgerStore(database).usage({});
    await migrate(database);
    const store = createLedgerStore(database);
    expect(await store.usage({})).toEqual(sums);
    expect((await store.check()).faults).toEqual([]);
    const read = async (from: number, to: number) =>
      await reports.usage({ workspaceId: null, by: "none", stepMs: hour, from: newYear + from, to: newYear + to });
    // All of 400 to 1,200 ms: half are below 800, where one span ends.
    const { totals } = await read(0, 2 * hour);
    expect(totals).toMatchObject({ succeeded: 400, latency_approximate: true });
    expect(Math.abs((totals.latency_p50_ms ?? 0) - 800) / 800).toBeLessThanOrEqual(0.02);
    expect(totals.latency_p95_ms).toBeGreaterThan(1_158 / 2);
    expect(totals.latency_p95_ms).toBeLessThan(1_158 * 2);
    expect(totals.request_latency_p95_ms).toBe(totals.latency_p95_ms);
    // As many that took a minute, in the last hour of before and in the next: nine of ten are now slow.
    const slow = Array.from({ length: 3_600 }, (_, n) => entryAt(1_000 + n, newYear + hour + (n % 2) * hour, 60_000));
    await store.insert(slow);
    expect((await store.check()).faults).toEqual([]);
    const mixed = await read(hour, 2 * hour);
    expect(mixed.totals).toMatchObject({ succeeded: 2_000, latency_approximate: true });
    expect(Math.abs((mixed.totals.latency_p50_ms ?? 0) - 60_000) / 60_000).toBeLessThanOrEqual(0.02);
    const all = await read(0, 3 * hour);
    expect(all.totals).toMatchObject({ succeeded: 4_000, latency_approximate: true });
    expect(all.lines[0]?.points.map(({ figures }) => figures.latency_approximate)).toEqual([true, true, false]);
    expect((await read(2 * hour, 3 * hour)).totals).toMatchObject({ succeeded: 1_800, latency_approximate: false });
  } finally {
    await reports.close();
    await closeDatabase(database);
    rmSync(directory, { recursive: true, force: true });
  }
});

test("a damaged count of before is found", async () => {
  const database = await oldDatabase(":memory:", [entryAt(1, newYear, 300)]);
  try {
    await migrate(database);
    const store = createLedgerStore(database);
    expect((await store.check()).faults).toEqual([]);
    await database.kysely.updateTable("usage_rollups").set({ total_ms_400: 2 }).execute();
    expect((await store.check()).faults.map(({ rule }) => rule)).toEqual(["a rollup's sketches count its entries"]);
  } finally {
    await closeDatabase(database);
  }
});
