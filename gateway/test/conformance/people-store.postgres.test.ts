import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { agentStoreSuite } from "./agent-store-suite.ts";
import { keyRequestSuite } from "./key-request-suite.ts";
import { peopleFixture } from "./people-fixture.ts";
import { peopleStoreSuite } from "./people-store-suite.ts";
import { rightsStoreSuite } from "./rights-store-suite.ts";
import { scimStoreSuite } from "./scim-store-suite.ts";

await onPostgres("people", () => {
  const make = async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-people-"));
    const postgres = await openPostgresFixture();
    return await peopleFixture(postgres.database, directory, async () => {
      await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    });
  };
  peopleStoreSuite("postgres", make);
  agentStoreSuite("postgres", make);
  keyRequestSuite("postgres", make);
  rightsStoreSuite("postgres", make);
  scimStoreSuite("postgres", make);
});
