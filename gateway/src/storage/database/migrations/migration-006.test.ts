import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerEntry, newYear, refusedEntry } from "../../../../test/conformance/store-ground.ts";
import { createLedgerStore } from "../../ledger/ledger-store.ts";
import { closeDatabase } from "../database.ts";
import { histogramColumns } from "../latency-histogram.ts";
import { migrate, migrations } from "../migrate.ts";
import { openDatabase } from "../open-database.ts";

const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "006"));

function withoutTimes(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !/_ms_(sketch|rest|\d+)$/.test(name)));
}

/** Up to 50 ms, up to 100, … up to 204.8 s, and the rest. */
function countsByDoubling(times: readonly number[]): number[] {
  const ends = [...Array.from({ length: 13 }, (_, n) => 50 * 2 ** n), Number.POSITIVE_INFINITY];
  return ends.map((end, n) => times.filter((ms) => ms <= end && ms > (ends[n - 1] ?? -1)).length);
}

test("rollups of before are counted into the histograms, and their sums stay", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-migrate-"));
  const old = openDatabase({ path: join(directory, "old.db") });
  const now = openDatabase({ path: join(directory, "now.db") });
  try {
    await migrate(old, before);
    await migrate(now);
    const entries = Array.from({ length: 300 }, (_, n) => {
      const make = n % 9 === 0 ? refusedEntry : ledgerEntry;
      const totalMs = n % 10 === 0 ? 50 * 2 ** (n % 14) : 7 * n * n;
      return make(`e${n}`, {
        at: newYear + n * 100_000,
        keyId: `key_${n % 3}`,
        totalMs,
        firstTokenMs: n % 4 === 0 ? null : n,
        // Counted apart since migration 022.
        ...(n % 9 !== 0 && n % 7 === 0 ? { outcome: "cancelled" as const } : {}),
      });
    });
    await createLedgerStore(now).insert(entries);
    const rows = await now.kysely.selectFrom("usage_rollups").selectAll().execute();
    const entryRows = await now.kysely.selectFrom("ledger_entries").selectAll().execute();
    const known = new Set(
      (await old.kysely.introspection.getTables()).flatMap(({ columns }) => columns.map((c) => c.name)),
    );
    const asBefore = (row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => known.has(name)));
    await old.kysely
      .insertInto("ledger_entries")
      .values(entryRows.map(asBefore) as never)
      .execute();
    const withoutHistograms = rows.map(asBefore);
    await old.kysely
      .insertInto("usage_rollups")
      .values(withoutHistograms as never)
      .execute();
    await migrate(old);
    const upgraded = await old.kysely.selectFrom("usage_rollups").selectAll().execute();
    expect(upgraded.map(withoutTimes)).toEqual(rows.map(withoutTimes));
    const good = entries.filter(({ outcome }) => outcome === "succeeded");
    for (const [duration, columns] of Object.entries(histogramColumns)) {
      const times = good.flatMap((entry) => (duration === "total_ms" ? entry.totalMs : (entry.firstTokenMs ?? [])));
      const counted = columns.map((column) => upgraded.reduce((sum, row) => sum + row[column], 0));
      expect(counted).toEqual(countsByDoubling(times));
    }
    expect((await createLedgerStore(old).check()).faults).toEqual([]);
  } finally {
    await closeDatabase(old);
    await closeDatabase(now);
    rmSync(directory, { recursive: true, force: true });
  }
});
