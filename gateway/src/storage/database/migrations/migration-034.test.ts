import { expect, test } from "bun:test";
import { closeDatabase } from "../database.ts";
import { migrate, migrations } from "../migrate.ts";
import { openDatabase } from "../open-database.ts";

const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "034"));

test("models that have no price at the upgrade stay callable, and those with one are not marked", async () => {
  const database = openDatabase({ path: ":memory:" });
  try {
    await migrate(database, before);
    const model = { type: "chat", owned_by: "x", fallbacks: "[]", managed_by: "file" as const, created_at: 1 };
    const rows = [
      { ...model, name: "bare", price_version: null },
      { ...model, name: "priced", price_version: "prc_1" },
    ];
    const price = { id: "prc_1", model: "priced", price_table: "{}", effective_from: 1 };
    await database.kysely.insertInto("prices").values(price).execute();
    await database.kysely
      .insertInto("models")
      .values(rows as never)
      .execute();
    await migrate(database);
    const after = await database.kysely.selectFrom("models").select(["name", "unpriced"]).orderBy("name").execute();
    expect(after).toEqual([
      { name: "bare", unpriced: "upgrade" },
      { name: "priced", unpriced: null },
    ]);
  } finally {
    await closeDatabase(database);
  }
});
