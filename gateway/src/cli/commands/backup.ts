import type { Command } from "commander";
import { refuseOnServer } from "../on-server.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addBackup(program: Command, terminal: Terminal): void {
  program
    .command("backup")
    .description("copy the database into a new file, also while the gateway runs, and check the copy")
    .argument("<file>", "a file that does not exist yet; its owner alone may read it")
    .action(async (file: string, _options: object, command: Command) => {
      const { backupDatabase, dataPaths } = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      refuseOnServer(
        environment,
        "the database is on a PostgreSQL server: back it up with `pg_dump --format=custom`, and keep the master key beside it",
      );
      const paths = dataPaths(environment.dataDir);
      const bytes = await backupDatabase(paths, file);
      await report(terminal, command, { file, size_bytes: bytes }, [
        `${file} is a whole and sound copy (${bytes} bytes).`,
        "Its secrets open with the master key only, which is not in it: keep that too, elsewhere.",
      ]);
    });
}
