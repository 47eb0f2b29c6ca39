import type { Command } from "commander";
import { readEnvironment, withFiles } from "#config/index.ts";
import { CommandWrong } from "../command-failed.ts";
import { auditSource, environmentOf, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

/** A database may be opened by several master keys while the processes of an installation change from one to another. */
export function addMasterKeys(program: Command, terminal: Terminal): void {
  const masterKey = program.command("master-key").description("change the master key");
  addRotate(masterKey, terminal);
  addRetire(masterKey, terminal);
}

function addRotate(masterKey: Command, terminal: Terminal): void {
  masterKey
    .command("rotate")
    .description("have another master key open the database too; without one to take, master.key gets a new one")
    .option("--new-key-file <path>", "the new master key is in this file (one line, at least 32 characters)")
    .action(async ({ newKeyFile }: { readonly newKeyFile?: string }, command: Command) => {
      const environment = await environmentOf(terminal.variables);
      const given = environment.masterKey?.reveal() ?? null;
      if (given !== null && newKeyFile === undefined) {
        throw new CommandWrong(
          "the master key is in SLUICE_MASTER_KEY; name the file with the new one (--new-key-file)",
        );
      }
      const { addMasterKey, givenMasterKey, newMasterKey, replaceKeyFile } = await import("#storage/index.ts");
      const added = newKeyFile === undefined ? newMasterKey() : givenMasterKey(await keyIn(newKeyFile));
      const { dataDir } = environment;
      await withControl(terminal.variables, async ({ database, people }) => {
        await addMasterKey(database, { masterKey: given, dataDir }, added);
        if (newKeyFile === undefined) replaceKeyFile(dataDir, added);
        await people.note({ action: "rotate", object: "master key", workspaceId: null }, auditSource);
      });
      const where =
        newKeyFile === undefined
          ? `${dataDir}/master.key holds a new master key`
          : "the new master key opens the database too";
      await report(terminal, command, { rotated: true, key_file: newKeyFile === undefined }, [
        `${where}; keep a copy of it apart from every backup.`,
        "Start every process with it, then end the old one: sluice master-key retire",
      ]);
    });
}

function addRetire(masterKey: Command, terminal: Terminal): void {
  masterKey
    .command("retire")
    .description("from now on only the master key that is in force here opens the database")
    .action(async (_options: object, command: Command) => {
      const environment = await environmentOf(terminal.variables);
      const { retireMasterKeys } = await import("#storage/index.ts");
      const options = { masterKey: environment.masterKey?.reveal() ?? null, dataDir: environment.dataDir };
      const retired = await withControl(terminal.variables, async ({ database, people }) => {
        const count = await retireMasterKeys(database, options);
        if (count > 0) await people.note({ action: "revoke", object: "master key", workspaceId: null }, auditSource);
        return count;
      });
      const words =
        retired === 0
          ? "no other master key opened the database"
          : `retired ${retired} other master key${retired === 1 ? "" : "s"}`;
      await report(terminal, command, { retired }, [words]);
    });
}

/** Read just as the gateway reads it. */
async function keyIn(path: string): Promise<string> {
  const variables = await withFiles({ SLUICE_MASTER_KEY_FILE: path }, ["SLUICE_MASTER_KEY"]);
  const key = readEnvironment(variables).masterKey;
  if (key === null) throw new CommandWrong(`${path} is empty`);
  return key.reveal();
}
