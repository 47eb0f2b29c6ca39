import type { Command } from "commander";
import type { Environment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { CommandFailed } from "../command-failed.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command("migrate")
    .description("bring the database up to this version, all or nothing (serve does this too)")
    .option("--without-copy", "do not copy the database first, because you have a copy of your own")
    .option(
      "--from <folder>",
      "move the installation in this data directory into the empty database of SLUICE_DATABASE_URL",
    )
    .action(async (options: { readonly withoutCopy?: boolean; readonly from?: string }, command: Command) => {
      const storage = await import("#storage/index.ts");
      const environment = await environmentOf(terminal.variables);
      if (options.from !== undefined) return await moveFrom(options.from, environment, terminal, command);
      const paths = storage.dataPaths(environment.dataDir);
      const { placeOf } = await import("#main.ts");
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

async function moveFrom(folder: string, environment: Environment, terminal: Terminal, command: Command): Promise<void> {
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
  await report(terminal, command, { from: folder, database: shownPlace(to), tables, rows, recovered, left, marked }, [
    `${rows} rows of ${tables} tables are in ${shownPlace(to)}; rows and money of every month are as they were.`,
    ...(recovered === 0 ? [] : [`${recovered} entries of the ledger were in the journal only, and are there too.`]),
    ...left,
    `Start it with the same master key and blobs: SLUICE_DATA_DIR=${folder}, or copies of master.key and blobs/ in another.`,
    marked
      ? `Its database there is as it was. Without SLUICE_DATABASE_URL it is not started again, unless you remove ${from.moved}.`
      : `${folder} was not changed. Do not start it without SLUICE_DATABASE_URL again: it would go on from before the move.`,
  ]);
}
