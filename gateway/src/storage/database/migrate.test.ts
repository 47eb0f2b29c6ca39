import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "./database.ts";
import { migrate, migrations, SchemaTooNew, schemaState } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import type { Migrations, SchemaStep } from "./schema-step.ts";

async function withFile(test: (path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-migrate-"));
  try {
    await test(join(directory, "data", "sluice.db"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const schemaText = async (database: Database) =>
  JSON.stringify(await database.kysely.introspection.getTables({ withInternalKyselyTables: true }));

const makes = (table: string, step: Omit<SchemaStep, "up"> & { readonly midway?: () => never } = {}): Migrations => ({
  "900": () => ({
    ...step,
    up: async (db) => {
      await db.schema.createTable(table).addColumn("a", "text").execute();
      step.midway?.();
    },
  }),
});

test("a new database is empty, becomes current, and migrating again does nothing", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    expect((await schemaState(database)).state).toBe("empty");
    expect(await migrate(database)).toEqual(Object.keys(migrations));
    expect((await schemaState(database)).state).toBe("current");
    expect(await migrate(database)).toEqual([]);
    await database.close();
  });
});

test("a migration that fails midway leaves the database as it was", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    await migrate(database);
    const before = await schemaText(database);
    const failing = makes("half", {
      midway: () => {
        throw new Error("the disk is full");
      },
    });
    await expect(migrate(database, { ...migrations, ...failing })).rejects.toThrow("the disk is full");
    expect(await schemaText(database)).toBe(before);
    expect((await schemaState(database)).state).toBe("current");
    expect(await migrate(database, { ...migrations, ...makes("half") })).toEqual(["900"]);
    await database.close();
  });
});

test("a process killed in a migration leaves the database as it was", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    await migrate(database);
    const before = await schemaText(database);
    const program = `
      const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, "open-database.ts"))});
      const { migrate, migrations } = await import(${JSON.stringify(join(import.meta.dir, "migrate.ts"))});
      await migrate(openDatabase({ path: ${JSON.stringify(path)} }), { ...migrations, "900": () => ({ up: async (db) => {
        await db.schema.createTable("half").addColumn("a", "text").execute();
        await db.schema.alterTable("settings").addColumn("b", "text").execute();
        process.kill(process.pid, "SIGKILL");
      } }) });
    `;
    const child = Bun.spawn([process.execPath, "-e", program], { stderr: "pipe" });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    expect(await schemaText(database)).toBe(before);
    await database.close();
    const reopened = openDatabase({ path });
    expect((await schemaState(reopened)).state).toBe("current");
    await reopened.close();
  });
});

test("refuses a database of a later, incompatible version", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    await migrate(database, { ...migrations, ...makes("future", { contractsFrom: "900" }) });
    const before = await schemaText(database);
    const state = await schemaState(database);
    expect([state.state, state.unknown]).toEqual(["newer", ["900"]]);
    await expect(migrate(database)).rejects.toThrow(SchemaTooNew);
    expect(await schemaText(database)).toBe(before);
    await database.close();
  });
});

test("accepts a database of a later, compatible version", async () => {
  for (const contractsFrom of [undefined, Object.keys(migrations).at(-1)]) {
    await withFile(async (path) => {
      const database = openDatabase({ path });
      const step = contractsFrom === undefined ? {} : { contractsFrom };
      await migrate(database, { ...migrations, ...makes("future", step) });
      const before = await schemaText(database);
      expect(await schemaState(database)).toMatchObject({ state: "ahead", unknown: ["900"] });
      expect(await migrate(database)).toEqual([]);
      expect(await schemaText(database)).toBe(before);
      await database.close();
    });
  }
});

test("refuses a later version without compatibility information, and gaps in migrations", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    const future = makes("future");
    await migrate(database, { ...migrations, ...future });
    expect((await schemaState(database)).state).toBe("ahead");
    expect((await schemaState(database, future)).state).toBe("newer");
    const branch: Migrations = { ...migrations, "800": () => ({ up: async () => undefined }) };
    expect((await schemaState(database, branch)).state).toBe("newer");
    await database.kysely.deleteFrom("settings").where("name", "=", "schema.compatible_from").execute();
    expect((await schemaState(database)).state).toBe("newer");
    await database.close();
  });
});

test("processes that migrate the same new database at the same time both succeed", async () => {
  await withFile(async (path) => {
    const program = `
      const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, "open-database.ts"))});
      const { migrate } = await import(${JSON.stringify(join(import.meta.dir, "migrate.ts"))});
      await migrate(openDatabase({ path: ${JSON.stringify(path)} }));
    `;
    const children = Array.from({ length: 3 }, () => Bun.spawn([process.execPath, "-e", program]));
    expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
    const database = openDatabase({ path });
    expect((await schemaState(database)).state).toBe("current");
    await database.close();
  });
});

test("only its owner can read the database and its side files", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    await migrate(database);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o077).toBe(0);
    await database.close();
  });
});

test("a closed database has no side files, and closing twice is closing once", async () => {
  await withFile(async (path) => {
    const database = openDatabase({ path });
    await migrate(database);
    await database.close();
    await database.close();
    expect(await Bun.file(`${path}-wal`).exists()).toBe(false);
  });
});
