import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChangeFeed, createControlStore, createLedgerStore, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { openPostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";
import { catalogStoreSuite } from "./catalog-store-suite.ts";
import { changeFeedSuite } from "./change-feed-suite.ts";
import { controlStoreSuite } from "./control-store-suite.ts";
import { ledgerStoreSuite } from "./ledger-store-suite.ts";
import { kindDefaults, newYear, type StoreGround, silentObserver } from "./store-ground.ts";
import { storedKeysSuite } from "./stored-keys-suite.ts";
import { tenantStoreSuite } from "./tenant-store-suite.ts";

async function postgresGround(): Promise<StoreGround> {
  const postgres = await openPostgresGround();
  const directory = mkdtempSync(join(tmpdir(), "sluice-stores-"));
  const clock = new FakeClock(newYear);
  const vault = openVault({ masterKey: null, dataDir: directory });
  const { database } = postgres;
  return {
    database,
    vault,
    clock,
    controlStore: createControlStore({ database, vault, clock, ids: createIds(clock), kindDefaults }),
    ledgerStore: createLedgerStore(database),
    changeFeed: createChangeFeed({ database, clock, observer: silentObserver }),
    async [Symbol.asyncDispose]() {
      await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

await onPostgres("stores", () => {
  controlStoreSuite("postgres", postgresGround);
  storedKeysSuite("postgres", postgresGround);
  catalogStoreSuite("postgres", postgresGround);
  tenantStoreSuite("postgres", postgresGround);
  ledgerStoreSuite("postgres", postgresGround);
  changeFeedSuite("postgres", postgresGround);
});
