import type { Command } from "commander";
import { systemClock } from "#system/index.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command("migrate")
    .description("bring the database up to this version, all or nothing (serve does this too)")
    .option("--without-copy", "do not copy the database first, because you have a copy of your own")
    .action(async (options: { readonly withoutCopy?: boolean }, command: Command) => {
      const storage = await import("#storage/index.ts");
      const { closeDatabase, openDatabase, schemaState, upgradeDatabase } = storage;
      const paths = storage.dataPaths((await environmentOf(terminal.variables)).dataDir);
      const path = paths.database;
      storage.prepareDataDirectory(paths.dataDir);
      storage.refuseLostDatabase(paths);
      const database = openDatabase({ path });
      try {
        const copyFirst = options.withoutCopy !== true;
        const { ran, copy } = await upgradeDatabase(database, { paths, now: systemClock.now(), copyFirst });
        const { applied } = await schemaState(database);
        const at = applied.at(-1) ?? "none";
        const line =
          ran.length === 0
            ? `already at ${at}`
            : `ran ${ran.join(", ")}; now at ${at}${copy === null ? "" : `; as it was before: ${copy}`}`;
        await report(terminal, command, { database: path, ran, applied, copy }, [line]);
      } finally {
        await closeDatabase(database);
      }
    });
}
