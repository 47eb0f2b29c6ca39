import type { Environment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import type { Answer, CliCommand } from "../cli-command.ts";
import { environmentOf } from "../open.ts";
import { CommandFailed } from "../terminal.ts";

export function addDatabaseCommands(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("migrate")
    .description("bring the database up to this version, all or nothing (serve does this too)")
    .option("--without-copy", "do not copy the database first, because you have a copy of your own")
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
    .description("copy the database into a new file, also while the gateway runs, and check the copy")
    .argument("<file>", "a file that does not exist yet; its owner alone may read it")
    .answer(async (file: string) => {
      const { backupDatabase, dataPaths } = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      refuseOnServer(
        environment,
        "the database is on a PostgreSQL server: back it up with `pg_dump --format=custom`, and keep the master key beside it",
      );
      const bytes = await backupDatabase(dataPaths(environment.dataDir), file);
      return [
        { file, size_bytes: bytes },
        [
          `${file} is a whole and sound copy (${bytes} bytes).`,
          "Its secrets open with the master key only, which is not in it: keep that too, elsewhere.",
        ],
      ];
    });
  program
    .command("restore")
    .description("put a backup in the place of the database, which is kept; the gateway must not be running")
    .argument("<file>", "what `sluice backup`, the console or sqlite3 made")
    .answer(async (file: string) => {
      const { dataPaths, prepareDataDirectory, restoreDatabase } = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      refuseOnServer(
        environment,
        "the database is on a PostgreSQL server: restore it with `pg_restore --exit-on-error` into an empty database, and name that in SLUICE_DATABASE_URL",
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
          `${database} is now what ${file} was: schema ${schema}, ${keys} keys, ${entries} ledger entries.`,
          ...(aside === null ? [] : [`What was there before is kept: ${aside}`]),
          ...(oldKey === null ? [] : [`It needed an earlier master key: master.key is now what ${oldKey} was.`]),
          "What is in the journal and not in the database is recovered at the next start.",
        ],
      ];
    });
}

/** Commands that copy a file have none to copy where the database is a server's, and say who does that there. */
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
    throw new CommandFailed(
      "--from moves an installation into PostgreSQL: name the empty database in SLUICE_DATABASE_URL",
    );
  }
  const from = dataPaths(folder);
  /** What of the journal did not come over, in words. */
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
      // Read only: the source stays as it is.
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
    `${rows} rows of ${tables} tables are in ${shownPlace(to)}; rows and money of every month are as they were.`,
    ...(recovered === 0 ? [] : [`${recovered} entries of the ledger were in the journal only, and are there too.`]),
    ...left,
    `Start it with the same master key and blobs: SLUICE_DATA_DIR=${folder}, or copies of master.key and blobs/ in another.`,
    marked
      ? `Its database there is as it was. Without SLUICE_DATABASE_URL it is not started again, unless you remove ${from.moved}.`
      : `${folder} was not changed. Do not start it without SLUICE_DATABASE_URL again: it would go on from before the move.`,
  ];
  return [data, lines];
}
