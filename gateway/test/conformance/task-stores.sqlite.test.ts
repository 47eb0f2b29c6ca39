import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssetStore } from "#assets/index.ts";
import { createLedgerStore, openVault } from "#storage/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { openOneAhead } from "../one-schema-ahead.ts";
import { accountPollsSuite } from "./account-polls-suite.ts";
import { assetStoreSuite } from "./asset-store-suite.ts";
import { batchStoreSuite } from "./batch-store-suite.ts";
import { fileSuite } from "./file-suite.ts";
import { taskEndSuite } from "./task-end-suite.ts";
import { otherProcess, type TaskFixture } from "./task-fixture.ts";
import { taskMaterialSuite } from "./task-material-suite.ts";
import { taskPageSuite } from "./task-page-suite.ts";
import { taskStoreSuite } from "./task-store-suite.ts";

/** The next version may already have migrated the database, and every statement of the stores must still work. */
async function sqliteFixture(): Promise<TaskFixture> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-tasks-"));
  const vault = openVault({ masterKey: null, dataDir: directory });
  const database = await openOneAhead(join(directory, "sluice.db"));
  return {
    database,
    vault,
    taskStore: createTaskStore({ database, vault }),
    assetStore: createAssetStore({ database }),
    ledgerStore: createLedgerStore(database),
    otherProcess: (work) => otherProcess(work, directory),
    async [Symbol.asyncDispose]() {
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

taskStoreSuite("sqlite", sqliteFixture);
accountPollsSuite("sqlite", sqliteFixture);
taskPageSuite("sqlite", sqliteFixture);
taskEndSuite("sqlite", sqliteFixture);
taskMaterialSuite("sqlite", sqliteFixture);
assetStoreSuite("sqlite", sqliteFixture);
fileSuite("sqlite", sqliteFixture);
batchStoreSuite("sqlite", sqliteFixture);
