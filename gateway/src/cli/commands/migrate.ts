import { join } from "node:path";
import type { Command } from "commander";
import { closeDatabase, migrate, openDatabase, schemaState } from "#storage/index.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command("migrate")
    .description("bring the database up to this version, all or nothing (serve does this too)")
    .action(async (_options: object, command: Command) => {
      const path = join(environmentOf(terminal.variables).dataDir, "sluice.db");
      const database = openDatabase({ path });
      try {
        const ran = await migrate(database);
        const { applied } = await schemaState(database);
        const at = applied.at(-1) ?? "none";
        const line = ran.length === 0 ? `already at ${at}` : `ran ${ran.join(", ")}; now at ${at}`;
        await report(terminal, command, { database: path, ran, applied }, [line]);
      } finally {
        await closeDatabase(database);
      }
    });
}
