import type { Command } from "commander";
import { placeOf } from "#main.ts";
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
      const environment = await environmentOf(terminal.variables);
      const paths = storage.dataPaths(environment.dataDir);
      const place = placeOf(environment);
      const { ran, applied, copy } = await storage.bringUpToDate({
        place,
        paths,
        now: systemClock.now(),
        copyFirst: options.withoutCopy !== true,
      });
      const at = applied.at(-1) ?? "none";
      const line =
        ran.length === 0
          ? `already at ${at}`
          : `ran ${ran.join(", ")}; now at ${at}${copy === null ? "" : `; as it was before: ${copy}`}`;
      await report(terminal, command, { database: storage.shownPlace(place), ran, applied, copy }, [line]);
    });
}
