import { createLedgerStore, openDatabase, openPostgres, openVault } from "#storage/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

/**
 * A second process on a suite's database: `bun other-process.ts <work> <data directory> [<address of PostgreSQL>]`.
 * OtherWork describes what it does and prints.
 */
const [work, dataDir = "", url] = process.argv.slice(2);
const database = url === undefined ? openDatabase({ path: `${dataDir}/sluice.db` }) : await openPostgres({ url });
if (work === "lease") await lease();
else await insert();
await database.close();

async function lease(): Promise<void> {
  const taskStore = createTaskStore({ database, vault: openVault({ masterKey: null, dataDir }) });
  for (;;) {
    const leased = await taskStore.lease(newYear, 60_000, 5);
    for (const one of leased) console.log(one.task.id);
    if (leased.length === 0) return;
    await new Promise(setImmediate);
  }
}

async function insert(): Promise<void> {
  const ledgerStore = createLedgerStore(database);
  let inserted = 0;
  for (let batch = 0; batch < 10; batch++) {
    const entries = Array.from({ length: 100 }, (_, n) => ledgerEntry(`${batch}_${n}`));
    inserted += await ledgerStore.insert(entries);
    await new Promise(setImmediate);
  }
  console.log(inserted);
}
