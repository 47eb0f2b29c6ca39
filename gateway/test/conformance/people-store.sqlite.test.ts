import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMigrated } from "../migrated.ts";
import { agentStoreSuite } from "./agent-store-suite.ts";
import { keyRequestSuite } from "./key-request-suite.ts";
import { peopleFixture } from "./people-fixture.ts";
import { peopleStoreSuite } from "./people-store-suite.ts";
import { rightsStoreSuite } from "./rights-store-suite.ts";
import { scimStoreSuite } from "./scim-store-suite.ts";

const make = async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-people-"));
  const database = await openMigrated(join(directory, "sluice.db"));
  return await peopleFixture(database, directory, async () => {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });
};

peopleStoreSuite("sqlite", make);
agentStoreSuite("sqlite", make);
keyRequestSuite("sqlite", make);
rightsStoreSuite("sqlite", make);
scimStoreSuite("sqlite", make);
