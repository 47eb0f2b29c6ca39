import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";
import { peopleGround } from "./people-ground.ts";
import { peopleStoreSuite } from "./people-store-suite.ts";

await onPostgres("people", () => {
  peopleStoreSuite("postgres", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-people-"));
    const postgres = await openPostgresGround();
    return await peopleGround(postgres.database, directory, async () => {
      await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    });
  });
});
