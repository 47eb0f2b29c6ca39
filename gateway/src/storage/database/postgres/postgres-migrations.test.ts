import { expect, test } from "bun:test";
import { sql } from "kysely";
import { emptyPostgres, openPostgresFixture } from "../../../../test/postgres-fixture.ts";
import { onPostgres } from "../../../../test/postgres-server.ts";
import { migrate, migrations, SchemaTooNew, schemaState } from "../migrate.ts";
import { openDatabase } from "../open-database.ts";
import type { Migrations } from "../schema-step.ts";
import { openPostgres } from "./open-postgres.ts";

await onPostgres("migrations", () => {
  test("ten concurrent starts migrate once", async () => {
    await using empty = await emptyPostgres();
    const open = () => openPostgres({ url: empty.url, poolSize: 1 });
    const databases = await Promise.all(Array.from({ length: 10 }, open));
    const ran = await Promise.all(databases.map((database) => migrate(database)));
    expect(ran.flat()).toEqual(Object.keys(migrations));
    const [first] = databases;
    if (first === undefined) throw new Error("no database was opened");
    expect(await schemaState(first)).toMatchObject({ state: "current", pending: [] });
    await Promise.all(databases.map((database) => database.close()));
  });

  test("refuses a later schema in one line, even if it appeared while waiting", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const later = { ...migrations, "900": () => ({ contractsFrom: "900", up: async () => undefined }) };
    expect(await migrate(database, later)).toEqual(["900"]);
    const refused = await migrate(database).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(SchemaTooNew);
    expect(String(refused)).toContain("has migrations of a newer version (900)");
    await sql`delete from migrations where name = '900'`.execute(database.kysely);
  });

  test("accepts a later, compatible schema", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    expect(await migrate(database, { ...migrations, "900": () => ({ up: async () => undefined }) })).toEqual(["900"]);
    expect(await schemaState(database)).toMatchObject({ state: "ahead", unknown: ["900"] });
    expect(await migrate(database)).toEqual([]);
    await sql`delete from migrations where name = '900'`.execute(database.kysely);
  });

  test("rolls back a failed migration", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const broken: Migrations = {
      ...migrations,
      "901": () => ({
        up: async (transaction) => {
          await transaction.schema.createTable("never").addColumn("id", "text").execute();
          throw new Error("broken");
        },
      }),
    };
    const failed = await migrate(database, broken).catch((thrown: unknown) => thrown);
    expect(String(failed)).toContain("broken");
    const { rows } = await sql<{ gone: number }>`select to_regclass('never') is null as gone`.execute(database.kysely);
    expect(rows).toEqual([{ gone: 1 }]);
    expect(await schemaState(database)).toMatchObject({ state: "current" });
  });

  test("both databases have the same tables and columns", async () => {
    await using fixture = await openPostgresFixture();
    const sqlite = openDatabase({ path: ":memory:" });
    await migrate(sqlite);
    const columnsOf = async ({ kysely }: typeof sqlite) =>
      (await kysely.introspection.getTables())
        .filter(
          ({ name, schema }) => schema !== "seeds" && !/^(migration|ledger_entries_|usage_rollups_tail)/.test(name),
        )
        .flatMap(({ name, columns }) =>
          columns.map((column) => `${name}.${column.name}${column.isNullable ? " or null" : ""}`),
        )
        .toSorted();
    const [here, there] = [await columnsOf(fixture.database), await columnsOf(sqlite)];
    await sqlite.close();
    expect(here.length).toBeGreaterThan(300);
    expect(here).toEqual(there);
  });

  test("orders text by bytes in every column, whatever the server's collation", async () => {
    await using fixture = await openPostgresFixture();
    const { kysely } = fixture.database;
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'`.execute(kysely);
    expect(rows).toEqual([]);
    const names = ["b", "A", "a", "_", "Z", "ä", "-a"];
    await kysely
      .insertInto("settings")
      .values(names.map((name) => ({ name, value: "", managed_by: "console" as const })))
      .execute();
    const ordered = await kysely
      .selectFrom("settings")
      .select("name")
      .where("managed_by", "=", "console")
      .orderBy("name")
      .execute();
    expect(ordered.map(({ name }) => name)).toEqual(["-a", "A", "Z", "_", "a", "b", "ä"]);
  });
});
