import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { openMigrated } from "../../../test/migrated.ts";
import { sealedColumns } from "./reseal-all.ts";

test("covers every sealed column of the schema", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-sealed-"));
  const database = await openMigrated(join(folder, "sluice.db"));
  const { rows } = await sql<{ at: string }>`
    select m.name || '.' || c.name as at from sqlite_schema m join pragma_table_info(m.name) c
    where m.type = 'table' and c.name like 'sealed\\_%' escape '\\' order by at`.execute(database.kysely);
  await database.close();
  rmSync(folder, { recursive: true });
  const listed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  expect(rows.length).toBeGreaterThan(0);
  expect(listed).toEqual(expect.arrayContaining(rows.map(({ at }) => at)));
});
