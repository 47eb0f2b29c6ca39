import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresOneAhead } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import type { StoreFixture } from "./store-fixture.ts";
import { storeSuites, storesOn } from "./store-suites.ts";

/** The next version may already have migrated the database, and every statement of the stores must still work. */
async function postgresFixture(): Promise<StoreFixture> {
  const postgres = await openPostgresOneAhead();
  const directory = mkdtempSync(join(tmpdir(), "sluice-stores-"));
  return storesOn(postgres.database, directory, async () => {
    await postgres[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
}

await onPostgres("stores", () => storeSuites("postgres", postgresFixture));
