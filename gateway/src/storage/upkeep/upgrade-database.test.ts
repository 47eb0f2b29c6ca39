import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../database/database.ts";
import { migrate, migrations, schemaState } from "../database/migrate.ts";
import { openDatabase } from "../database/open-database.ts";
import type { Migrations, SchemaStep } from "../database/schema-step.ts";
import { type DataPaths, DataUnusable, dataPaths } from "../disk/data-directory.ts";
import { openJournalDirectory } from "../journal/journal-slots.ts";
import { upgradeDatabase } from "./upgrade-database.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-upgrade-"));
const smallDisk = join(folder, "small");
mkdirSync(smallDisk);
const mayMount =
  process.platform === "linux" &&
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", smallDisk], { stdio: "ignore" }).status === 0;
if (!mayMount)
  console.log("not tried: an upgrade without room for a copy, because no small file system can be mounted");
afterAll(() => {
  if (mayMount) spawnSync("umount", ["-l", smallDisk]);
  rmSync(folder, { recursive: true, force: true });
});

/** The migrations of this version and `after` made-up ones named `900`, `901` and so on, which create a table each. */
function versions(after: number): Migrations {
  const made = Array.from({ length: after }, (_, n) => {
    const step: SchemaStep = {
      up: async ({ schema }) => await schema.createTable(`made_${n}`).addColumn("id", "text").execute(),
    };
    return [String(900 + n), () => step] as const;
  });
  return { ...migrations, ...Object.fromEntries(made) };
}

const [before, known] = [versions(1), versions(2)];

/** A database of the previous version with one setting. */
async function earlier(place: string, schema = before): Promise<{ paths: DataPaths; database: Database }> {
  const paths = dataPaths(place);
  const database = openDatabase({ path: paths.database });
  await migrate(database, schema);
  await database.kysely.insertInto("settings").values({ name: "a", value: "acme", managed_by: "system" }).execute();
  return { paths, database };
}

const copiesIn = (place: string) => readdirSync(place).filter((name) => name.includes(".schema-"));
const settingsIn = async (database: Database) =>
  (await database.kysely.selectFrom("settings").select("value").where("name", "=", "a").execute()).map(
    ({ value }) => value,
  );

test("copies the database before an upgrade, readable by its owner only", async () => {
  const place = join(folder, "copied");
  const { paths, database } = await earlier(place);
  const { ran, copy } = await upgradeDatabase(database, { paths, known, now: Date.UTC(2026, 10, 22, 3, 4, 5) });
  expect(ran).toEqual(["901"]);
  expect(copy).toBe(join(place, "sluice.db.schema-900-20261122T030405Z"));
  expect(statSync(copy ?? "").mode & 0o777).toBe(0o600);
  expect((await schemaState(database, known)).state).toBe("current");
  const copied = openDatabase({ path: copy ?? "" });
  expect([(await schemaState(copied)).applied.at(-1), await settingsIn(copied)]).toEqual(["900", ["acme"]]);
  await copied.close();
  await database.close();
});

test("makes no copy of a new or current database", async () => {
  const place = join(folder, "new");
  const paths = dataPaths(place);
  const database = openDatabase({ path: paths.database });
  expect((await upgradeDatabase(database, { paths, now: 0 })).copy).toBeNull();
  expect(await upgradeDatabase(database, { paths, now: 0 })).toEqual({ ran: [], copy: null });
  expect(copiesIn(place)).toEqual([]);
  await database.close();
});

test("keeps copies of the latest three upgrades", async () => {
  const place = join(folder, "several");
  for (let day = 1; day <= 5; day++) {
    rmSync(join(place, "sluice.db"), { force: true });
    const { paths, database } = await earlier(place, versions(day));
    await upgradeDatabase(database, { paths, known: versions(day + 1), now: Date.UTC(2026, 10, day) });
    await database.close();
  }
  expect(copiesIn(place).sort()).toEqual([
    "sluice.db.schema-902-20261103T000000Z",
    "sluice.db.schema-903-20261104T000000Z",
    "sluice.db.schema-904-20261105T000000Z",
  ]);
});

test("refuses to upgrade while a gateway runs on the directory", async () => {
  const place = join(folder, "running");
  const { paths, database } = await earlier(place);
  const running = openJournalDirectory(paths.journal);
  const refused = await upgradeDatabase(database, { paths, known, now: 0 }).catch((thrown: unknown) => thrown);
  expect(refused).toBeInstanceOf(DataUnusable);
  expect(String(refused)).toContain("a gateway of another version is running on");
  expect((await schemaState(database)).applied.at(-1)).toBe("900");
  running.release();
  expect((await upgradeDatabase(database, { paths, known, now: 0 })).ran).toEqual(["901"]);
  await database.close();
});

test.skipIf(!mayMount)("changes nothing if there is no room for the copy", async () => {
  const { paths, database } = await earlier(smallDisk);
  const refused = await upgradeDatabase(database, { paths, known, now: 0 }).catch((thrown: unknown) => thrown);
  expect(refused).toBeInstanceOf(DataUnusable);
  expect(String(refused)).toMatch(/must be copied .* there is no room .* MiB are needed, .*Nothing was changed\./);
  expect(String(refused)).not.toContain("\n");
  expect([(await schemaState(database)).applied.at(-1), copiesIn(smallDisk)]).toEqual(["900", []]);
  await database.close();
});
