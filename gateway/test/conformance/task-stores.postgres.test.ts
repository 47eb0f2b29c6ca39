import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssetStore } from "#assets/index.ts";
import { createLedgerStore, openVault } from "#storage/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { accountPollsSuite } from "./account-polls-suite.ts";
import { assetStoreSuite } from "./asset-store-suite.ts";
import { batchStoreSuite } from "./batch-store-suite.ts";
import { fileSuite } from "./file-suite.ts";
import { taskEndSuite } from "./task-end-suite.ts";
import { otherProcess, type TaskFixture } from "./task-fixture.ts";
import { taskMaterialSuite } from "./task-material-suite.ts";
import { taskPageSuite } from "./task-page-suite.ts";
import { taskStoreSuite } from "./task-store-suite.ts";

async function postgresFixture(): Promise<TaskFixture> {
  const postgres = await openPostgresFixture();
  const directory = mkdtempSync(join(tmpdir(), "sluice-tasks-"));
  const vault = openVault({ masterKey: null, dataDir: directory });
  const { database, url } = postgres;
  return {
    database,
    vault,
    taskStore: createTaskStore({ database, vault }),
    assetStore: createAssetStore({ database }),
    ledgerStore: createLedgerStore(database),
    otherProcess: (work) => otherProcess(work, directory, url),
    async [Symbol.asyncDispose]() {
      await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

await onPostgres("stores of tasks and assets", () => {
  taskStoreSuite("postgres", postgresFixture);
  accountPollsSuite("postgres", postgresFixture);
  taskPageSuite("postgres", postgresFixture);
  taskEndSuite("postgres", postgresFixture);
  taskMaterialSuite("postgres", postgresFixture);
  assetStoreSuite("postgres", postgresFixture);
  fileSuite("postgres", postgresFixture);
  batchStoreSuite("postgres", postgresFixture);
});
