import type { Command } from "commander";
import type { Environment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { CommandFailed } from "../command-failed.ts";
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

export function addRestore(program: Command, terminal: Terminal): void {
  program
    .command("restore")
    .description("put a backup in the place of the database, which is kept; the gateway must not be running")
    .argument("<file>", "what `sluice backup`, the console or sqlite3 made")
    .action(async (file: string, _options: object, command: Command) => {
      const { dataPaths, prepareDataDirectory, restoreDatabase } = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      refuseOnServer(
        environment,
        "the database is on a PostgreSQL server: restore it with `pg_restore --exit-on-error` into an empty database, and name that in SLUICE_DATABASE_URL",
      );
      const paths = dataPaths(environment.dataDir);
      prepareDataDirectory(paths.dataDir);
      const masterKey = environment.masterKey?.reveal() ?? null;
      const restored = await restoreDatabase({ paths, file, masterKey, now: systemClock.now() });
      const { schema, keys, entries, aside, oldKey } = restored;
      await report(
        terminal,
        command,
        { file, database: paths.database, schema, keys, entries, aside, old_key_file: oldKey },
        [
          `${paths.database} is now what ${file} was: schema ${schema}, ${keys} keys, ${entries} ledger entries.`,
          ...(aside === null ? [] : [`What was there before is kept: ${aside}`]),
          ...(oldKey === null ? [] : [`It needed an earlier master key: master.key is now what ${oldKey} was.`]),
          "What is in the journal and not in the database is recovered at the next start.",
        ],
      );
    });
}

/** Commands that copy a file have none to copy where the database is a server's, and say who does that there. */
function refuseOnServer({ databaseUrl }: Environment, line: string): void {
  if (databaseUrl !== null) throw new CommandFailed(line);
}
