import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOneAhead } from "../one-schema-ahead.ts";
import type { StoreFixture } from "./store-fixture.ts";
import { storeSuites, storesOn } from "./store-suites.ts";

/** The next version may already have migrated the database, and every statement of the stores must still work. */
async function sqliteFixture(): Promise<StoreFixture> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-stores-"));
  const database = await openOneAhead(join(directory, "sluice.db"));
  return storesOn(database, directory, async () => {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });
}

storeSuites("sqlite", sqliteFixture);
