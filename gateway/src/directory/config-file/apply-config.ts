import type { ConfigFile } from "@sluice/contract/config-file";
import { type Conflict, conflictsOf } from "@sluice/contract/words";
import type { Transaction } from "kysely";
import { keyConflicts } from "#core/index.ts";
import type { ApplyReport, ConfigChange } from "#ports/index.ts";
import { auditedWrite, type Connection, type Tables } from "#storage/tables.ts";
import { readFilePeople } from "../people/file-people.ts";
import { applyModels } from "../providers/models.ts";
import { applyProviders, kindConflicts, suspendProviders } from "../providers/providers.ts";
import { refuseConflicts } from "../refusals.ts";
import { countRows, findRow, not } from "../rows.ts";
import { applySettings, settingConflicts } from "../settings.ts";
import type { ControlDirectory } from "../store.ts";
import { applyPeople, firstPasswords } from "./apply-people.ts";
import { applyWorkspaces } from "./apply-workspaces.ts";

interface ApplyOptions {
  /** Refuses removals that look like a file that was read half-written. */
  readonly refuseLargeRemovals?: boolean;
}

/** What applying a file would do. */
interface ConfigPlan {
  readonly changes: ApplyReport;
  /** Removals that look like a file that was read half-written. */
  readonly largeRemovals: readonly Conflict[];
}

/**
 * Makes the objects of the config file equal to `config`. What it no longer declares is suspended. Other objects do not change. All or
 * nothing: a conflict, found before or within, leaves everything as it was.
 */
export async function applyConfig(
  options: ControlDirectory,
  config: ConfigFile,
  actor: string,
  { refuseLargeRemovals = false }: ApplyOptions = {},
): Promise<ApplyReport> {
  const { changes } = await write(options, config, actor, (plan) => {
    if (refuseLargeRemovals) refuseConflicts(plan.largeRemovals);
  });
  return changes;
}

/** What `applyConfig` would do. Its transaction is rolled back. */
export async function planConfig(options: ControlDirectory, config: ConfigFile, actor: string): Promise<ConfigPlan> {
  let planned: ConfigPlan | null = null;
  try {
    return await write(options, config, actor, (plan) => {
      planned = plan;
      throw rollback;
    });
  } catch (thrown) {
    if (thrown !== rollback || planned === null) throw thrown;
    return planned;
  }
}

const rollback = new Error("A plan is not carried out.");

/** `judge` sees what was done before it is committed, and may throw. */
async function write(
  options: ControlDirectory,
  config: ConfigFile,
  actor: string,
  judge: (plan: ConfigPlan) => void,
): Promise<ConfigPlan> {
  const providers = config.providers ?? [];
  refuseConflicts([
    ...conflictsOf(config),
    ...keyConflicts(config),
    ...kindConflicts(providers, options.kindDefaults),
    ...settingConflicts(config.settings ?? {}, options.database),
  ]);
  const passwords = await firstPasswords(options, config.users ?? []);
  return await auditedWrite({ ...options, owner: "file" as const }, { actor, ip: null }, async (context) => {
    const owned = await ownedByFile(context.transaction);
    const vanished = await applyProviders(context, providers);
    await applyModels(context, config.models ?? [], providers);
    await suspendProviders(context, vanished);
    await applyWorkspaces(context, config.workspaces ?? []);
    await applyPeople(context, config, passwords);
    await applySettings(context, config.settings ?? {});
    const changes = context.log.report;
    const plan: ConfigPlan = { changes, largeRemovals: largeRemovals(changes, config, owned) };
    judge(plan);
    return plan;
  });
}

/**
 * Gives an installation that has no providers and no models its first ones. They belong to the console, so that a
 * config file that comes later does not take them away. Where `actor` alone has ever made any, and all that it made is
 * the demo, what is missing is added. Else nothing is done.
 */
export async function seedConfig(options: ControlDirectory, config: ConfigFile, actor: string): Promise<ApplyReport> {
  const providers = config.providers ?? [];
  const models = config.models ?? [];
  refuseConflicts([...conflictsOf({ providers, models }), ...kindConflicts(providers, options.kindDefaults)]);
  return await auditedWrite({ ...options, owner: "console" as const }, { actor, ip: null }, async (context) => {
    if (!(await isUntouched(context.transaction, actor))) return [];
    await applyProviders(context, providers);
    await applyModels(context, models, providers);
    return context.log.report;
  });
}

async function isUntouched(transaction: Transaction<Tables>, actor: string): Promise<boolean> {
  const other = await findRow(transaction, "providers", { kind: not("demo") });
  if (other !== undefined) return false;
  const provider = await findRow(transaction, "providers", {});
  const model = await findRow(transaction, "models", {});
  if (provider === undefined) return model === undefined;
  const touched = await transaction
    .selectFrom("audit_log")
    .select("seq")
    .where("actor", "!=", actor)
    .where((where) => where.or([where("object", "like", "provider %"), where("object", "like", "model %")]))
    .limit(1)
    .executeTakeFirst();
  return touched === undefined;
}

/** What each kind is called: in the file, and as the first words of an audit object. People have no owner in their rows. */
const kindsOfFile = [
  { kind: "providers", word: "provider ", table: "providers" },
  { kind: "models", word: "model ", table: "models" },
  { kind: "workspaces", word: "workspace ", table: "workspaces" },
  { kind: "groups", word: "group ", table: "groups" },
  { kind: "keys", word: "key ", table: "api_keys" },
  { kind: "users", word: "user ", table: null },
  { kind: "tokens", word: "admin token ", table: null },
  { kind: "oidc", word: "single sign-on ", table: null },
  { kind: "settings", word: "setting ", table: "settings" },
] as const;

type Kind = (typeof kindsOfFile)[number]["kind"];

/** Names that a refusal lists of each kind. */
const namedMax = 5;

/** How many objects of each kind the config file owns. */
async function ownedByFile(connection: Connection): Promise<ReadonlyMap<Kind, number>> {
  const people = await readFilePeople(connection);
  const owned = new Map<Kind, number>();
  for (const row of kindsOfFile) {
    if (row.table === null) owned.set(row.kind, people[row.kind].length);
    else owned.set(row.kind, await countRows(connection.selectFrom(row.table).where("managed_by", "=", "file")));
  }
  return owned;
}

/**
 * Removals that look like a file that was read half-written: at least two objects and more than a quarter of a kind, or all of a
 * kind of which the file declares nothing any more. A retention is one by itself: what the default deletes does not come back.
 */
function largeRemovals(
  changes: ApplyReport,
  config: ConfigFile,
  owned: ReadonlyMap<Kind, number>,
): readonly Conflict[] {
  const gone = changes.filter(isRemoval);
  const large = kindsOfFile.flatMap(({ kind, word }): string[] => {
    const names = gone.flatMap(({ object }) => (object.startsWith(word) ? [object.slice(word.length)] : []));
    const count = owned.get(kind) ?? 0;
    const isLarge =
      (names.length >= 2 && names.length * 4 > count) || (names.length > 0 && declared(kind, config) === 0);
    const isRetention = kind === "settings" && names.some((name) => name.endsWith(".retention_days"));
    if (!isLarge && !isRetention) return [];
    const more = names.length > namedMax ? `, and ${names.length - namedMax} more` : "";
    return [`${names.length} of ${count} ${kind} (${names.slice(0, namedMax).join(", ")}${more})`];
  });
  if (large.length === 0) return [];
  const message = `the file no longer declares ${large.join(", ")}. If that is meant, confirm it with \`sluice apply --prune\`, or set SLUICE_CONFIG_PRUNE=allow; nothing was changed`;
  return [{ path: [], message }];
}

function isRemoval({ action }: ConfigChange): boolean {
  return action === "suspend" || action === "release" || action === "remove";
}

function declared(kind: Kind, config: ConfigFile): number {
  const workspaces = config.workspaces ?? [];
  switch (kind) {
    case "groups":
      // Each workspace has one.
      return workspaces.length;
    case "keys":
      return workspaces.reduce((sum, { keys = [] }) => sum + keys.length, 0);
    case "settings":
      return Object.keys(config.settings ?? {}).length;
    default:
      return config[kind]?.length ?? 0;
  }
}
