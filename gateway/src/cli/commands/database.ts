import type { Environment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import type { Answer, CliCommand } from "../cli-command.ts";
import { environmentOf } from "../open.ts";
import { CommandFailed } from "../terminal.ts";

export function addDatabaseCommands(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("migrate")
    .description("migrate the database to this version in one transaction (serve does this too)")
    .option("--without-copy", "do not copy the database first")
    .option(
      "--from <folder>",
      "move the installation in this data directory into the empty database of SLUICE_DATABASE_URL",
    )
    .answer(async (options: { readonly withoutCopy?: boolean; readonly from?: string }) => {
      const storage = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      if (options.from !== undefined) return await moveFrom(options.from, environment);
      const { placeOf } = await import("#main.ts");
      const place = placeOf(environment);
      const { ran, applied, copy } = await storage.bringUpToDate({
        place,
        paths: storage.dataPaths(environment.dataDir),
        now: systemClock.now(),
        copyFirst: options.withoutCopy !== true,
      });
      const at = applied.at(-1) ?? "none";
      const before = copy === null ? "" : `; as it was before: ${copy}`;
      const line = ran.length === 0 ? `already at ${at}` : `ran ${ran.join(", ")}; now at ${at}${before}`;
      return [{ database: storage.shownPlace(place), ran, applied, copy }, [line]];
    });
  program
    .command("backup")
    .description("back up the database to a new file and check it; the gateway may be running")
    .argument("<file>", "a new file, readable by its owner only")
    .answer(async (file: string) => {
      const { backupDatabase, dataPaths } = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      refuseOnServer(
        environment,
        "the database is on a PostgreSQL server: back it up with `pg_dump --format=custom`, and keep the master key too",
      );
      const bytes = await backupDatabase(dataPaths(environment.dataDir), file);
      return [
        { file, size_bytes: bytes },
        [
          `${file} is a complete, checked copy (${bytes} bytes).`,
          "Its secrets are encrypted with the master key, which is not included: keep that in another place.",
        ],
      ];
    });
  program
    .command("restore")
    .description("replace the database by a backup and keep the old one; the gateway must be stopped")
    .argument("<file>", "a backup from `sluice backup`, the console or sqlite3")
    .answer(async (file: string) => {
      const { dataPaths, prepareDataDirectory, restoreDatabase } = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      refuseOnServer(
        environment,
        "the database is on a PostgreSQL server: restore it with `pg_restore --exit-on-error` into an empty database, and set SLUICE_DATABASE_URL to that",
      );
      const paths = dataPaths(environment.dataDir);
      const { database } = paths;
      prepareDataDirectory(paths.dataDir);
      const masterKey = environment.masterKey?.reveal() ?? null;
      const restored = await restoreDatabase({ paths, file, masterKey, now: systemClock.now() });
      const { schema, keys, entries, aside, oldKey } = restored;
      return [
        { file, database, schema, keys, entries, aside, old_key_file: oldKey },
        [
          `Restored ${file} to ${database}: schema ${schema}, ${keys} keys, ${entries} ledger entries.`,
          ...(aside === null ? [] : [`The old database was moved to ${aside}`]),
          ...(oldKey === null ? [] : [`It needs an earlier master key: master.key was replaced by ${oldKey}.`]),
          "Entries that are only in the journal are recovered at the next start.",
        ],
      ];
    });
}

/** Throws with a line that names the tool of the database server. */
function refuseOnServer({ databaseUrl }: Environment, line: string): void {
  if (databaseUrl !== null) throw new CommandFailed(line);
}

async function moveFrom(folder: string, environment: Environment): Promise<Answer> {
  const { createLedgerStore, dataPaths, moveOver, readJournal, settingAside, shownPlace } = await import(
    "#storage/index.ts"
  );
  const { recover } = await import("#ledger/index.ts");
  const { placeOf } = await import("#main.ts");
  const to = placeOf(environment);
  if (to.kind === "sqlite") {
    throw new CommandFailed("--from moves an installation to PostgreSQL: set SLUICE_DATABASE_URL to an empty database");
  }
  const from = dataPaths(folder);
  /** Entries of the journal that could not be moved. */
  const left: string[] = [];
  const observer = {
    log: (_: string, message: string, { attemptId, error }: Readonly<Record<string, unknown>> = {}) =>
      void left.push(`${message} ${attemptId}: ${error}`),
  };
  const moved = await moveOver({
    from,
    to,
    masterKey: environment.masterKey?.reveal() ?? null,
    now: systemClock.now(),
    async recoverJournal(target) {
      // Read only, so that the source does not change.
      const journal = readJournal(from.journal);
      const leftovers = { damage: [], records: () => journal.records(), discard: async () => undefined };
      const store = settingAside(createLedgerStore(target), from.journal, observer);
      const { stored } = await recover({ leftovers, store });
      left.push(...journal.damage.map((damage) => `The journal is damaged: ${damage}.`));
      return stored;
    },
  });
  const { tables, rows, recovered, marked } = moved;
  const data = { from: folder, database: shownPlace(to), tables, rows, recovered, left, marked };
  const lines = [
    `${rows} rows of ${tables} tables are in ${shownPlace(to)}; rows and costs of every month match.`,
    ...(recovered === 0 ? [] : [`${recovered} ledger entries that were only in the journal were moved too.`]),
    ...left,
    `Start with the same master key and blobs: SLUICE_DATA_DIR=${folder}, or a folder with copies of master.key and blobs/.`,
    marked
      ? `The old database is unchanged. It will not start without SLUICE_DATABASE_URL unless you delete ${from.moved}.`
      : `${folder} is unchanged. Do not start it without SLUICE_DATABASE_URL: it would continue from before the move.`,
  ];
  return [data, lines];
}
