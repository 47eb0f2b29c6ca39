import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile, RehearsedChange } from "@sluice/contract";
import type { ConfigSnapshot, LedgerEntry } from "#core/index.ts";
import { createControlStore } from "#directory/index.ts";
import { createLedgerStore, type Database, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { resolveChange } from "../../src/rehearsal/change/resolve-change.ts";
import { RehearsalRun } from "../../src/rehearsal/replay/rehearsal-run.ts";
import { kindDefaults } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { openMigrated } from "../migrated.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";

/** A database with a configuration, in which past calls can be stored and rehearsed. */
export interface RehearsalFixture extends AsyncDisposable {
  readonly database: Database;
  apply(config: ConfigFile): Promise<ConfigSnapshot>;
  insert(entries: readonly LedgerEntry[]): Promise<unknown>;
  rehearse(
    change: RehearsedChange,
    span: { readonly from: number; readonly to: number },
  ): ReturnType<RehearsalRun["result"]>;
}

export async function openRehearsalFixture(kind: "sqlite" | "postgres"): Promise<RehearsalFixture> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-rehearsal-"));
  const postgres = kind === "postgres" ? await openPostgresFixture() : null;
  const database = postgres?.database ?? (await openMigrated(join(directory, "sluice.db")));
  const clock = new FakeClock();
  const vault = openVault({ masterKey: null, dataDir: directory });
  const controlStore = createControlStore({ database, vault, clock, ids: createIds(clock), kindDefaults });
  return {
    database,
    async apply(config) {
      await controlStore.apply(config, "test");
      return await controlStore.configSnapshot();
    },
    insert: (entries) => createLedgerStore(database).insert(entries),
    async rehearse(change, span) {
      const configSnapshot = await controlStore.configSnapshot();
      const resolved = await resolveChange(change, configSnapshot, database);
      const run = new RehearsalRun(database, { ...span, now: clock.now(), ...resolved, config: configSnapshot });
      while (!(await run.step()).isOver);
      return await run.result();
    },
    async [Symbol.asyncDispose]() {
      if (postgres === null) await database.close();
      else await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
