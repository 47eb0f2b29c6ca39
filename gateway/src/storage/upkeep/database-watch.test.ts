import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { until } from "../../../../test/until.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { listeningObserver } from "../../../test/ledger/history.ts";
import { openMigrated } from "../../../test/migrated.ts";
import type { Database } from "../database/database.ts";
import { databaseCheckMs, watchDatabaseFile } from "./database-watch.ts";

let home = "";
let path = "";
let database: Database;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "sluice-watch-"));
  path = join(home, "sluice.db");
  database = await openMigrated(path);
});
afterEach(async () => {
  await database.close();
  rmSync(home, { recursive: true, force: true });
});

/** Another process damages the file, because this one must not open it. */
async function damage(table: string): Promise<void> {
  await sql`pragma wal_checkpoint(truncate)`.execute(database.kysely);
  const { rows } = await sql<{ at: number }>`
    select (rootpage - 1) * (select page_size from pragma_page_size) as at from sqlite_schema where name = ${table}
  `.execute(database.kysely);
  const written = spawnSync("dd", [`of=${path}`, "bs=1", `seek=${rows[0]?.at}`, "conv=notrunc"], {
    input: Buffer.alloc(200, 0xa5),
  });
  expect(written.status).toBe(0);
}

test("the next check finds damage, logs it once, and keeps reporting it", async () => {
  const clock = new FakeClock();
  const observer = listeningObserver();
  const watch = await watchDatabaseFile({ database, databasePath: path, clock, observer });
  expect(watch.problem).toBeNull();
  await damage("audit_log");
  clock.advance(databaseCheckMs - 1);
  expect(watch.problem).toBeNull();
  clock.advance(1);
  await until(() => watch.problem !== null);
  expect(watch.problem).toBe("the database is damaged; restore a backup");
  expect(observer.lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
  clock.advance(databaseCheckMs);
  expect(watch.problem).not.toBeNull();
  await watch.close();
});
