import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { exportedRow } from "#core/index.ts";
import { createLedgerReader, createLedgerStore } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { ledgerEntry, newYear } from "../conformance/store-fixture.ts";
import { openMigrated } from "../migrated.ts";

test("reads the ledger for its copies in a thread, which stops when idle and starts again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-reader-"));
  const path = join(directory, "sluice.db");
  const database = await openMigrated(path);
  const store = createLedgerStore(database);
  const reader = createLedgerReader({ kind: "sqlite", path }, systemClock);
  try {
    const entry = ledgerEntry("one");
    await store.insert([entry]);
    expect(await reader.counted([newYear, newYear + 3_600_000])).toEqual([1, 0]);
    await reader.rest();
    const { bytes, entries, costNanoUsd, next } = await reader.part(newYear, null);
    expect([entries, costNanoUsd, next]).toEqual([1, "427500", null]);
    expect(gunzipSync(bytes).toString("utf8")).toBe(`${JSON.stringify(exportedRow(entry))}\n`);
  } finally {
    await reader.rest();
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
