import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { type Connection, relaxedWrite } from "./database.ts";
import { openDatabase } from "./open-database.ts";

const normal = 1;
const full = 2;

async function synchronous(connection: Connection): Promise<number | undefined> {
  return (await sql<{ synchronous: number }>`pragma synchronous`.execute(connection)).rows[0]?.synchronous;
}

test("only relaxed writes are not synced, even if they fail or others write concurrently", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-relaxed-"));
  const database = openDatabase({ path: join(directory, "sluice.db") });
  const transaction = () => database.kysely.transaction().execute(synchronous);
  const failing = relaxedWrite(database, async () => {
    throw new Error("refused");
  });
  const seen = Promise.all([
    transaction(),
    relaxedWrite(database, synchronous),
    transaction(),
    failing.catch(() => synchronous(database.kysely)),
    relaxedWrite(database, synchronous),
    synchronous(database.kysely),
  ]);
  expect(await seen).toEqual([full, normal, full, full, normal, full]);
  await database.close();
  rmSync(directory, { recursive: true });
});
