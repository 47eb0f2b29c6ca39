import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  closeDatabase,
  createChangeFeed,
  createControlStore,
  createLedgerStore,
  openDatabase,
  openVault,
} from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { migrated } from "../migrated.ts";
import { catalogStoreSuite } from "./catalog-store-suite.ts";
import { changeFeedSuite } from "./change-feed-suite.ts";
import { controlStoreSuite } from "./control-store-suite.ts";
import { ledgerStoreSuite } from "./ledger-store-suite.ts";
import { kindDefaults, newYear, type StoreGround, silentObserver } from "./store-ground.ts";
import { storedKeysSuite } from "./stored-keys-suite.ts";
import { tenantStoreSuite } from "./tenant-store-suite.ts";

async function sqliteGround(): Promise<StoreGround> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-stores-"));
  const clock = new FakeClock(newYear);
  const vault = openVault({ masterKey: null, dataDir: directory });
  const database = openDatabase({ path: join(directory, "sluice.db") });
  await migrated(database);
  return {
    database,
    vault,
    clock,
    controlStore: createControlStore({ database, vault, clock, ids: createIds(clock), kindDefaults }),
    ledgerStore: createLedgerStore(database),
    changeFeed: createChangeFeed({ database, clock, observer: silentObserver }),
    async [Symbol.asyncDispose]() {
      await closeDatabase(database);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

controlStoreSuite("sqlite", sqliteGround);
storedKeysSuite("sqlite", sqliteGround);
catalogStoreSuite("sqlite", sqliteGround);
tenantStoreSuite("sqlite", sqliteGround);
ledgerStoreSuite("sqlite", sqliteGround);
changeFeedSuite("sqlite", sqliteGround);
