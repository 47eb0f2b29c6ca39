import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";
import { agentStoreSuite } from "./agent-store-suite.ts";
import { peopleGround } from "./people-ground.ts";
import { peopleStoreSuite } from "./people-store-suite.ts";
import { rightsStoreSuite } from "./rights-store-suite.ts";
import { scimStoreSuite } from "./scim-store-suite.ts";

await onPostgres("people", () => {
  const make = async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-people-"));
    const postgres = await openPostgresGround();
    return await peopleGround(postgres.database, directory, async () => {
      await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    });
  };
  peopleStoreSuite("postgres", make);
  agentStoreSuite("postgres", make);
  rightsStoreSuite("postgres", make);
  scimStoreSuite("postgres", make);
});
