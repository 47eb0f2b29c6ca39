import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, migrate, openDatabase } from "#storage/index.ts";
import { objectsOf, openMigrated, rowsOf } from "./migrated.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-migrated-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.each([
  ["in memory", ":memory:"],
  ["in a file", join(directory, "sluice.db")],
])("a copied database %s equals a migrated one in every table, index and row", async (_where, path) => {
  const byMigrations = openDatabase({ path: ":memory:" });
  const again = await openMigrated(path);
  await migrate(byMigrations);
  expect(await objectsOf(again)).toEqual([...(await objectsOf(byMigrations))]);
  const rows = await contentOf(again);
  expect(rows).toEqual(await contentOf(byMigrations));
  expect(Object.keys(rows)).toContain("migrations");
  expect(await migrate(again)).toEqual([]);
  await Promise.all([byMigrations, again].map((each) => each.close()));
});

/** Rows of each non-empty table, including SQLite's counters, without the times of migrations. */
async function contentOf(database: Database): Promise<Readonly<Record<string, readonly object[]>>> {
  const names = (await objectsOf(database)).filter(({ type }) => type === "table").map(({ name }) => name);
  const content = await Promise.all(
    [...names, "sqlite_sequence"].map(async (name) => [name, await rowsOf(database, name)] as const),
  );
  return Object.fromEntries(
    content
      .filter(([, rows]) => rows.length > 0)
      .map(([name, rows]) => [name, rows.map(({ timestamp: _, ...row }) => row)]),
  );
}
