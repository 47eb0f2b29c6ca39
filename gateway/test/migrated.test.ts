import { expect, test } from "bun:test";
import { closeDatabase, type Database, migrate, openDatabase } from "#storage/index.ts";
import { migrated, objectsOf, rowsOf } from "./migrated.ts";

test("what is made again is what the migrations make: every table, every index, every row", async () => {
  const byMigrations = openDatabase({ path: ":memory:" });
  const again = openDatabase({ path: ":memory:" });
  await migrate(byMigrations);
  await migrated(again);
  expect(await objectsOf(again)).toEqual([...(await objectsOf(byMigrations))]);
  const rows = await contentOf(again);
  expect(rows).toEqual(await contentOf(byMigrations));
  expect(Object.keys(rows)).toContain("migrations");
  expect(await migrate(again)).toEqual([]);
  await Promise.all([byMigrations, again].map(closeDatabase));
});

/** Rows of each table that has some, SQLite's own counts included; when a migration ran is left out. */
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
