import { sql } from "kysely";
import { createControlStore } from "#directory/index.ts";
import { createChangeFeed, createDatabaseTries, createLedgerStore, type Database, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { adjustmentSuite } from "./adjustment-suite.ts";
import { alertGuardrailSuite } from "./alert-guardrail-suite.ts";
import { alertMessageSuite } from "./alert-message-suite.ts";
import { alertSuite } from "./alert-suite.ts";
import { changeFeedSuite } from "./change-feed-suite.ts";
import { configFileSuite } from "./config-file-suite.ts";
import { configStoreSuite } from "./config-store-suite.ts";
import { controlStoreSuite } from "./control-store-suite.ts";
import { focusSuite } from "./focus-suite.ts";
import { guardrailSuite } from "./guardrail-suite.ts";
import { importSuite } from "./import-suite.ts";
import { leaseSuite } from "./lease-suite.ts";
import { ledgerExportSuite } from "./ledger-export-suite.ts";
import { ledgerFoldSuite } from "./ledger-fold-suite.ts";
import { ledgerStoreSuite } from "./ledger-store-suite.ts";
import { scheduledReportSuite } from "./scheduled-report-suite.ts";
import { sessionSumsSuite } from "./session-sums-suite.ts";
import { storageFeesSuite } from "./storage-fees-suite.ts";
import { kindDefaults, newYear, type StoreFixture, type StoreFixtureFactory, silentObserver } from "./store-fixture.ts";
import { storedKeysSuite } from "./stored-keys-suite.ts";
import { tenantStoreSuite } from "./tenant-store-suite.ts";
import { type TriesFixture, triesSuite } from "./tries-suite.ts";
import { upstreamObjectSuite } from "./upstream-object-suite.ts";

/** The stores on a migrated database. The vault stores its key in `dataDir`. */
export function storesOn(database: Database, dataDir: string, dispose: () => Promise<void>): StoreFixture {
  const clock = new FakeClock(newYear);
  const vault = openVault({ masterKey: null, dataDir });
  return {
    database,
    vault,
    clock,
    controlStore: createControlStore({ database, vault, clock, ids: createIds(clock), kindDefaults }),
    ledgerStore: createLedgerStore(database),
    changeFeed: createChangeFeed({ database, clock, observer: silentObserver }),
    [Symbol.asyncDispose]: dispose,
  };
}

/** Runs every suite of these stores for one database. */
export function storeSuites(name: string, make: StoreFixtureFactory): void {
  configFileSuite(name, make);
  controlStoreSuite(name, make);
  storedKeysSuite(name, make);
  configStoreSuite(name, make);
  tenantStoreSuite(name, make);
  importSuite(name, make);
  guardrailSuite(name, make);
  ledgerStoreSuite(name, make);
  adjustmentSuite(name, make);
  storageFeesSuite(name, make);
  ledgerFoldSuite(name, make);
  sessionSumsSuite(name, make);
  ledgerExportSuite(name, make);
  focusSuite(name, make);
  upstreamObjectSuite(name, make);
  changeFeedSuite(name, make);
  leaseSuite(name, make);
  alertSuite(name, make);
  alertGuardrailSuite(name, make);
  alertMessageSuite(name, make);
  scheduledReportSuite(name, make);
  triesSuite(name, async () => await databaseTries(await make()));
}

/** Two processes that count tries in one database. Time passes by changing the stored times. */
async function databaseTries(fixture: StoreFixture): Promise<TriesFixture> {
  const { database, vault, clock } = fixture;
  return {
    open: [createDatabaseTries({ database, vault, clock }), createDatabaseTries({ database, vault, clock })],
    async advance(ms) {
      clock.advance(ms);
      await database.kysely
        .updateTable("tries")
        .set({ ends_at: sql<number>`ends_at - ${Math.ceil(ms)}` })
        .execute();
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}
