import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createExportedHours, dataPaths, openDatabase } from "#storage/index.ts";
import { newYear } from "../../../test/conformance/store-fixture.ts";
import { openMigrated } from "../../../test/migrated.ts";
import { backupDatabase, restoreDatabase } from "./backup.ts";

const hour = 3_600_000;

test("does not export hours again that were exported after the backup", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-restore-"));
  try {
    const paths = dataPaths(folder);
    const [file, now] = [join(folder, "backup.db"), newYear + 6 * hour];
    const database = await openMigrated(paths.database);
    const hours = createExportedHours(database);
    await hours.mark("bucket", newYear, 10, now);
    await hours.mark("bucket", newYear + hour, 4, now);
    await backupDatabase(paths, file);
    // A late entry, and two more hours.
    await hours.mark("bucket", newYear + hour, 5, now);
    for (const n of [2, 3]) await hours.mark("bucket", newYear + n * hour, 7 * n, now);
    await database.close();
    await restoreDatabase({ paths, file, masterKey: null, now });
    const restored = openDatabase({ path: paths.database });
    const after = createExportedHours(restored);
    expect(await after.next("bucket", newYear, now)).toBe(newYear + 4 * hour);
    const noted = await after.toCheck("bucket", now + 48 * hour, newYear);
    expect(noted.map(({ hour: at, entries }) => [(at - newYear) / hour, entries])).toEqual([
      [3, 21],
      [2, 14],
      [1, 5],
      [0, 10],
    ]);
    await restored.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
