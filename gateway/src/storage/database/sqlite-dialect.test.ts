import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { ledgerEntry } from "../../../test/conformance/store-fixture.ts";
import { createLedgerStore } from "../ledger/ledger-store.ts";
import { inSnapshot } from "./database.ts";
import { migrate } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import { runEach } from "./sqlite-dialect.ts";

async function withTwo(
  work: (first: ReturnType<typeof openDatabase>, second: ReturnType<typeof openDatabase>) => Promise<void>,
) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-sqlite-"));
  const path = join(directory, "sluice.db");
  const first = openDatabase({ path });
  await migrate(first);
  // Migrations insert rows into this table.
  await first.kysely.deleteFrom("settings").execute();
  const second = openDatabase({ path, busyMs: 50 });
  try {
    await work(first, second);
  } finally {
    await second.close();
    await first.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const setting = (name: string) => ({ name, value: "1", managed_by: "system" as const });

test("syncs commits and enforces foreign keys", async () => {
  await withTwo(async (first) => {
    const read = async (pragma: string) => {
      const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${pragma}`).execute(first.kysely);
      return Object.values(rows[0] ?? {})[0];
    };
    expect([await read("journal_mode"), await read("synchronous"), await read("foreign_keys")]).toEqual(["wal", 2, 1]);
  });
});

test("a snapshot ignores concurrent commits and does not block them", async () => {
  await withTwo(async (first, second) => {
    const count = async (on: Parameters<Parameters<typeof inSnapshot>[1]>[0]) =>
      (await on.selectFrom("settings").selectAll().execute()).length;
    await inSnapshot(first, async (snapshot) => {
      expect(await count(snapshot)).toBe(0);
      await second.kysely.insertInto("settings").values(setting("a")).execute();
      expect(await count(snapshot)).toBe(0);
    });
    expect(await count(first.kysely)).toBe(1);
  });
});

test("a transaction that reads before it writes succeeds despite a concurrent write", async () => {
  await withTwo(async (first, second) => {
    await first.kysely.transaction().execute(async (transaction) => {
      await transaction.selectFrom("settings").selectAll().execute();
      await expect(second.kysely.insertInto("settings").values(setting("b")).execute()).rejects.toThrow("locked");
      await transaction.insertInto("settings").values(setting("a")).execute();
    });
    await second.kysely.insertInto("settings").values(setting("b")).execute();
  });
});

test("a batch that finds the database locked is rejected as a whole and can be repeated", async () => {
  await withTwo(async (first, second) => {
    const store = createLedgerStore(second);
    const batch = Array.from({ length: 130 }, (_, n) => ledgerEntry(`l${n}`));
    await first.kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto("settings").values(setting("a")).execute();
      await expect(store.insert(batch)).rejects.toThrow("locked");
    });
    expect(await store.insert(batch)).toBe(130);
    expect(await createLedgerStore(first).insert(batch)).toBe(0);
    expect((await store.check()).faults).toEqual([]);
  });
});

test("distinguishes no rows, rows and counts of changed rows", async () => {
  await withTwo(async (first) => {
    const inserted = await first.kysely
      .insertInto("settings")
      .values([setting("a"), setting("b")])
      .executeTakeFirst();
    expect(inserted.numInsertedOrUpdatedRows).toBe(2n);
    const gone = await first.kysely.deleteFrom("settings").where("name", "=", "a").returning("name").execute();
    expect(gone).toEqual([{ name: "a" }]);
    const streamed: string[] = [];
    for await (const row of first.kysely.selectFrom("settings").select("name").stream()) streamed.push(row.name);
    expect(streamed).toEqual(["b"]);
  });
});

test("runs more different statements than are cached", async () => {
  await withTwo(async (first) => {
    for (let n = 0; n < 600; n++) {
      const { rows } = await sql.raw<{ n: number }>(`select ${n} as n`).execute(first.kysely);
      expect(rows).toEqual([{ n }]);
    }
  });
});

test("runs a statement for each row in order, and returns what each changed and returned", async () => {
  await withTwo(async ({ kysely }) => {
    const insert = kysely.insertInto("settings").values(setting(""));
    const onceEach = insert.onConflict((conflict) => conflict.doNothing()).compile();
    const each = (...names: readonly string[]) => names.map((name) => Object.values(setting(name)));
    const written = await kysely
      .transaction()
      .execute((transaction) => runEach(transaction, onceEach, each("b", "a", "b", "c")));
    expect(written).toEqual({ rows: [], changed: [1, 1, 0, 1] });
    const returning = insert.returning("name").compile();
    const { rows } = await kysely
      .transaction()
      .execute((transaction) => runEach(transaction, returning, each("z", "d")));
    expect(rows).toEqual([{ name: "z" }, { name: "d" }]);
    const twice = kysely.transaction().execute((transaction) => runEach(transaction, returning, each("e", "a", "f")));
    await expect(twice).rejects.toThrow();
    const all = await kysely.selectFrom("settings").select("name").orderBy("name").execute();
    expect(all.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "z"]);
  });
});
