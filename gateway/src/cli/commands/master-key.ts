import { readEnvironment, withFiles } from "#config/index.ts";
import type { InstanceStatus } from "#ports/index.ts";
import type { Database, DatabaseVault } from "#storage/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { auditSource, environmentOf, withControl } from "../open.ts";
import { graceTime } from "../option-readers.ts";
import { CommandWrong } from "../terminal.ts";

/** A database may be opened by several master keys while the processes of an installation change from one to another. */
export function addMasterKeys(program: CliCommand): void {
  const { terminal } = program;
  const masterKey = program.command("master-key").description("change the master key");
  masterKey
    .command("rotate")
    .description("have another master key open the database too; without one to take, master.key gets a new one")
    .option("--new-key-file <path>", "the new master key is in this file (one line, at least 32 characters)")
    .option(
      "--discard-old",
      "do not keep the old master.key beside the new one: backups made until now cannot be opened",
    )
    .action(async ({ newKeyFile, discardOld }: { newKeyFile?: string; discardOld?: true }, command: CliCommand) => {
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
      const kept = await withControl(terminal.variables, async ({ database, vault, people, clock }) => {
        const now = clock.now();
        // What a change before this one has left: afterwards two older keys would be needed.
        await sealAll(database, vault);
        await addMasterKey(database, { masterKey: given, dataDir }, added, now);
        const keep = discardOld !== true;
        const file = newKeyFile === undefined ? replaceKeyFile(dataDir, added, { now, keep }) : null;
        await people.note({ action: "rotate", object: "master key", workspaceId: null }, auditSource);
        return file;
      });
      const where =
        newKeyFile === undefined
          ? `${dataDir}/master.key holds a new master key`
          : "the new master key opens the database too";
      await command.report({ rotated: true, key_file: newKeyFile === undefined, old_key_file: kept }, [
        `${where}; keep a copy of it apart from every backup.`,
        kept === null
          ? "Backups made until now open with the old master key alone: keep it as long as them."
          : `Backups made until now open with the old one alone, which is kept: ${kept}`,
        "Start every process with the new one, then end the old one: sluice master-key retire",
      ]);
    });
  masterKey
    .command("retire")
    .description("from now on only the master key that is in force here opens the database, and signs")
    .option(
      "--grace <time>",
      "how long agents' sign-ins, links and webhook signatures of the old key stay valid",
      graceTime,
      defaultGraceMs,
    )
    .option("--now", "end them at once, as after a leak; also while a process still runs with the old key")
    .action(async ({ grace, now: atOnce }: { grace: number; now?: true }, command: CliCommand) => {
      const environment = await environmentOf(terminal.variables);
      const { keptKeyFiles, masterKeyAddedAt, retireMasterKeys } = await import("#storage/index.ts");
      const { dataDir } = environment;
      const options = { masterKey: environment.masterKey?.reveal() ?? null, dataDir };
      const outcome = await withControl(terminal.variables, async ({ database, vault, people, clock, instances }) => {
        if (atOnce !== true) refuseBehind(await instances.list(), await masterKeyAddedAt(database, options));
        const now = clock.now();
        const until = atOnce === true ? now : now + grace;
        const retired = await retireMasterKeys(database, options, { now, until });
        await vault.refresh();
        const sealed = await sealAll(database, vault);
        const { count } = retired;
        if (count > 0) await people.note({ action: "revoke", object: "master key", workspaceId: null }, auditSource);
        return { ...retired, until, sealed };
      });
      const { count, addedAt, until, sealed } = outcome;
      const before = addedAt === null ? null : new Date(addedAt).toISOString();
      const kept = keptKeyFiles(dataDir);
      const result = { retired: count, signatures_until: count === 0 ? null : new Date(until).toISOString(), sealed };
      await command.report({ ...result, backups_before: before, old_key_files: kept }, [
        ...(count === 0
          ? ["no other master key opened the database"]
          : [
              `retired ${count} other master key${count === 1 ? "" : "s"}; ${sealed} secrets were sealed again`,
              atOnce === true
                ? "What the old key signed has ended: agents sign in again, and receivers of webhooks need their new secret."
                : `What the old key signed is valid until ${new Date(until).toISOString()}; to end it now: sluice master-key retire --now`,
              "Everybody signs in to the console again.",
            ]),
        ...(before === null
          ? []
          : [
              `Backups made before ${before} cannot be read with this master key. ${
                kept.length === 0
                  ? "Keep the old one as long as them; it is not in this folder."
                  : `\`sluice restore\` opens them with the old ones that are kept: ${kept.join(", ")}`
              }`,
            ]),
      ]);
    });
}

const defaultGraceMs = 24 * 3_600_000;

/** A process that was started before the key was added can have the old one only: it would stop reading secrets. */
function refuseBehind(instances: readonly InstanceStatus[], addedAt: number | null): void {
  const behind = instances.filter(({ isAlive, startedAt }) => isAlive && addedAt !== null && startedAt < addedAt);
  if (behind.length === 0) return;
  const hosts = behind.map(({ host, id }) => `${host} (${id})`).join(", ");
  throw new CommandWrong(
    `restart with the new master key first: ${hosts}. After a leak: sluice master-key retire --now`,
  );
}

/** How many secrets were sealed with an earlier key. */
async function sealAll(database: Database, vault: DatabaseVault): Promise<number> {
  const { sealAllAgain } = await import("#storage/index.ts");
  let sealed = 0;
  for await (const changed of sealAllAgain(database, vault)) sealed += changed;
  return sealed;
}

/** Read just as the gateway reads it. */
async function keyIn(path: string): Promise<string> {
  const variables = await withFiles({ SLUICE_MASTER_KEY_FILE: path }, ["SLUICE_MASTER_KEY"]);
  const key = readEnvironment(variables).masterKey;
  if (key === null) throw new CommandWrong(`${path} is empty`);
  return key.reveal();
}
