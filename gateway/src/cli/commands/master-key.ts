import { readEnvironment, withFiles } from "#config/index.ts";
import type { InstanceStatus } from "#ports/index.ts";
import type { Database, DatabaseVault } from "#storage/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { auditSource, environmentOf, withControl } from "../open.ts";
import { graceTime } from "../option-readers.ts";
import { UsageError } from "../terminal.ts";

/** A database can have several master keys while processes change from one to another. */
export function addMasterKeys(program: CliCommand): void {
  const { terminal } = program;
  const masterKey = program.command("master-key").description("change the master key");
  masterKey
    .command("rotate")
    .description("add a master key for the database; by default generates a new one in master.key")
    .option("--new-key-file <path>", "file with the new master key (one line, at least 32 characters)")
    .option("--discard-old", "delete the old master.key: earlier backups can then no longer be read")
    .action(async ({ newKeyFile, discardOld }: { newKeyFile?: string; discardOld?: true }, command: CliCommand) => {
      const environment = await environmentOf(terminal.variables);
      const given = environment.masterKey?.reveal() ?? null;
      if (given !== null && newKeyFile === undefined) {
        throw new UsageError("the master key is set in SLUICE_MASTER_KEY; pass the new one with --new-key-file");
      }
      const { addMasterKey, givenMasterKey, newMasterKey, replaceKeyFile } = await import("#storage/index.ts");
      const added = newKeyFile === undefined ? newMasterKey() : givenMasterKey(await keyIn(newKeyFile));
      const { dataDir } = environment;
      const kept = await withControl(terminal.variables, async ({ database, vault, people, clock }) => {
        const now = clock.now();
        // Completes an earlier rotation, so that at most one old key is needed.
        await sealAll(database, vault);
        await addMasterKey(database, { masterKey: given, dataDir }, added, now);
        const keep = discardOld !== true;
        const file = newKeyFile === undefined ? replaceKeyFile(dataDir, added, { now, keep }) : null;
        await people.note({ action: "rotate", object: "master key", workspaceId: null }, auditSource);
        return file;
      });
      const where =
        newKeyFile === undefined ? `${dataDir}/master.key contains a new master key` : "the new master key was added";
      await command.report({ rotated: true, key_file: newKeyFile === undefined, old_key_file: kept }, [
        `${where}; keep a copy of it away from your backups.`,
        kept === null
          ? "Earlier backups need the old master key: keep it as long as them."
          : `Earlier backups need the old one, which was saved as ${kept}`,
        "Restart every process with the new one, then run: sluice master-key retire",
      ]);
    });
  masterKey
    .command("retire")
    .description("remove all other master keys; only the current one stays valid")
    .option(
      "--grace <time>",
      "how long sign-ins of agents, links and webhook signatures of the old key stay valid",
      graceTime,
      defaultGraceMs,
    )
    .option("--now", "end them at once, for example after a leak, even if a process still uses the old key")
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
          ? ["there were no other master keys"]
          : [
              `retired ${count} other master key${count === 1 ? "" : "s"}; ${sealed} secrets were encrypted again`,
              atOnce === true
                ? "Signatures of the old key are invalid now: agents must sign in again, and webhook receivers need their new secret."
                : `Signatures of the old key stay valid until ${new Date(until).toISOString()}; to end them now: sluice master-key retire --now`,
              "All users must sign in to the console again.",
            ]),
        ...(before === null
          ? []
          : [
              `Backups made before ${before} cannot be read with this master key. ${
                kept.length === 0
                  ? "Keep the old key as long as them; it is not in this folder."
                  : `\`sluice restore\` uses the saved old keys: ${kept.join(", ")}`
              }`,
            ]),
      ]);
    });
}

const defaultGraceMs = 24 * 3_600_000;

/** Processes started before the key was added may have only the old one, and could no longer read secrets. */
function refuseBehind(instances: readonly InstanceStatus[], addedAt: number | null): void {
  const behind = instances.filter(({ isAlive, startedAt }) => isAlive && addedAt !== null && startedAt < addedAt);
  if (behind.length === 0) return;
  const hosts = behind.map(({ host, id }) => `${host} (${id})`).join(", ");
  throw new UsageError(`restart with the new master key first: ${hosts}. After a leak: sluice master-key retire --now`);
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
  if (key === null) throw new UsageError(`${path} is empty`);
  return key.reveal();
}
