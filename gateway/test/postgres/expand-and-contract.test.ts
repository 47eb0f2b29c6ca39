import { describe, expect, test } from "bun:test";
import type { Kysely } from "kysely";
import { type Database, openDatabase, openPostgres } from "#storage/index.ts";
import { migrations } from "../../src/storage/database/migrate.ts";
import type { Migrations } from "../../src/storage/database/schema-step.ts";
import { contractions, recording } from "../contractions.ts";
import { emptyPostgres } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

test("every contracting SQLite migration declares the oldest compatible schema", async () => {
  const database = openDatabase({ path: ":memory:" });
  expect(await undeclared(database, migrations)).toEqual([]);
  await database.close();
});

await onPostgres("migrations", () => {
  test("every contracting PostgreSQL migration does so too", async () => {
    await using empty = await emptyPostgres();
    const database = await openPostgres({ url: empty.url, poolSize: 1 });
    expect(await undeclared(database, migrations)).toEqual([]);
    await database.close();
  });
});

test("migrations are numbered without gaps, and a contracting one keeps the previous version working", () => {
  const names = Object.keys(migrations);
  expect(names).toEqual(names.map((_, index) => String(index + 1).padStart(3, "0")));
  for (const [name, make] of Object.entries(migrations)) {
    const { contractsFrom } = make({ name: "sqlite" } as never);
    if (contractsFrom === undefined) continue;
    expect(names).toContain(contractsFrom);
    expect(contractsFrom < name).toBe(true);
  }
});

describe("contracting statements", () => {
  const refused = [
    "drop table keys",
    'alter table "keys" drop column "old"',
    'alter table "keys" rename column "old" to "new"',
    'alter table "keys" rename to "api_keys"',
    'alter table "keys" add column "owner" text not null',
    'alter table "keys" alter column "name" type bigint',
    'alter table "keys" alter column "name" set not null',
    "ALTER TABLE keys\n  ADD CONSTRAINT short CHECK (length(name) < 9)",
    "create unique index keys_by_name on keys (name)",
    "drop index keys_by_name",
    "drop function changes_told()",
  ];
  test.each(refused)("%s", (statement) => {
    expect(contractions([statement])).toHaveLength(1);
    expect(contractions(["create table others (name text)", statement])).toHaveLength(1);
  });

  test.each([
    'create table "more" ("id" text primary key not null)',
    'alter table "keys" add column "owner" text',
    'alter table "keys" add column "uses" bigint default 0 not null',
    "create index keys_by_name on keys (name)",
    "insert into settings select 'a', 'b', 'system'",
    "alter table usage_rollups_tail alter column calls set default 0",
  ])("does not contract: %s", (statement) => {
    expect(contractions([statement])).toEqual([]);
  });

  test("a new table of the same migration does not count, unless it takes another table's name", () => {
    const made = 'create table "draft" ("id" text)';
    expect(contractions([made, 'alter table "draft" add column "a" text not null', "drop table draft"])).toEqual([]);
    expect(contractions(["create unique index a on draft (id)", made])).toEqual([]);
    expect(contractions([made, 'alter table "draft" rename to "keys"'])).toHaveLength(1);
  });

  test("running a contracting migration without a declaration finds it", async () => {
    const database = openDatabase({ path: ":memory:" });
    const added: Migrations = {
      "900": () => ({ up: async (connection: Kysely<unknown>) => await drop(connection, "leases") }),
      "901": () => ({
        contractsFrom: "001",
        up: async (connection: Kysely<unknown>) => await drop(connection, "instances"),
      }),
    };
    expect(await undeclared(database, { ...migrations, ...added })).toEqual(["900: drop table leases"]);
    await database.close();
  });
});

async function drop(connection: Kysely<unknown>, table: string): Promise<void> {
  await connection.schema.dropTable(table).execute();
}

/** The contracting statements of migrations without a declaration. Runs all migrations in order. */
async function undeclared(database: Database, all: Migrations): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, make] of Object.entries(all).toSorted(([a], [b]) => a.localeCompare(b))) {
    const { up, contractsFrom } = make(database.flavour);
    const { kysely, statements } = recording(database.kysely);
    await up(kysely as Kysely<never>);
    if (contractsFrom === undefined)
      found.push(...contractions(statements).map((statement) => `${name}: ${statement}`));
  }
  return found;
}
