import type { ConfigFile } from "@sluice/contract/config-file";
import { type Conflict, conflictsOf } from "@sluice/contract/words";
import { keyConflicts } from "#core/index.ts";
import type { ApplyReport } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import { applyBudgetPolicies } from "../budgets/apply-policies.ts";
import { applyGuardrails, suspendGuardrails } from "../guardrails/apply-guardrails.ts";
import { readFilePeople } from "../people/file-people.ts";
import { applyModels } from "../providers/models.ts";
import { applyProviders, kindConflicts, suspendProviders } from "../providers/providers.ts";
import { refuseConflicts, shortList } from "../refusals.ts";
import { countRows, findRow, not } from "../rows.ts";
import { applySettings, settingConflicts } from "../settings.ts";
import type { ControlDirectory } from "../store.ts";
import { applyPeople, firstPasswords } from "./apply-people.ts";
import { applyWorkspaces } from "./apply-workspaces.ts";

interface ConfigPlan {
  readonly changes: ApplyReport;
  /** Removals that suggest the file was read while it was being written. */
  readonly largeRemovals: readonly Conflict[];
}

/** Applies a config file in one transaction: suspends objects that it no longer declares, and leaves all other objects as they are. */
export async function applyConfig(
  options: ControlDirectory,
  config: ConfigFile,
  actor: string,
  { refuseLargeRemovals = false }: { readonly refuseLargeRemovals?: boolean } = {},
): Promise<ApplyReport> {
  const { changes } = await write(options, config, actor, (plan) => {
    if (refuseLargeRemovals) refuseConflicts(plan.largeRemovals);
  });
  return changes;
}

/** The changes that `applyConfig` would make. The transaction is rolled back. */
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

const rollback = new Error("a plan is rolled back");

/** Rolls back if `beforeCommit` throws. */
async function write(
  options: ControlDirectory,
  config: ConfigFile,
  actor: string,
  beforeCommit: (plan: ConfigPlan) => void,
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
    await suspendGuardrails(context, config);
    const vanished = await applyProviders(context, providers);
    await applyModels(context, config.models ?? [], providers);
    await suspendProviders(context, vanished);
    await applyWorkspaces(context, config.workspaces ?? []);
    await applyGuardrails(context, config);
    await applyPeople(context, config, passwords);
    await applyBudgetPolicies(context, config);
    await applySettings(context, config.settings ?? {});
    const changes = context.log.report;
    const plan: ConfigPlan = { changes, largeRemovals: largeRemovals(changes, config, owned) };
    beforeCommit(plan);
    return plan;
  });
}

/**
 * Creates the first providers and models of an installation that has none, or only the demo that `actor` created earlier. They are
 * managed by the console, so that a config file does not remove them later.
 */
export async function seedConfig(options: ControlDirectory, config: ConfigFile, actor: string): Promise<ApplyReport> {
  const providers = config.providers ?? [];
  const models = config.models ?? [];
  refuseConflicts([...conflictsOf({ providers, models }), ...kindConflicts(providers, options.kindDefaults)]);
  return await auditedWrite({ ...options, owner: "console" as const }, { actor, ip: null }, async (context) => {
    if (!(await isEmptyOrDemo(context.transaction, actor))) return [];
    await applyProviders(context, providers);
    await applyModels(context, models, providers);
    return context.log.report;
  });
}

async function isEmptyOrDemo(transaction: Connection, actor: string): Promise<boolean> {
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

/** Each section of the file, the prefix of its objects in the audit log, and its table if that has the column `managed_by`. */
const fileSections = [
  { kind: "providers", word: "provider ", table: "providers" },
  { kind: "models", word: "model ", table: "models" },
  { kind: "workspaces", word: "workspace ", table: "workspaces" },
  { kind: "groups", word: "group ", table: "groups" },
  { kind: "keys", word: "key ", table: "api_keys" },
  { kind: "guardrails", word: "guardrail ", table: "guardrails" },
  { kind: "budgets", word: "budget ", table: "budget_policies" },
  { kind: "users", word: "user ", table: null },
  { kind: "tokens", word: "admin token ", table: null },
  { kind: "oidc", word: "single sign-on ", table: null },
  { kind: "settings", word: "setting ", table: "settings" },
] as const;

type Kind = (typeof fileSections)[number]["kind"];

/** The number of objects that the config file manages, by section. */
async function ownedByFile(connection: Connection): Promise<ReadonlyMap<Kind, number>> {
  const people = await readFilePeople(connection);
  const owned = new Map<Kind, number>();
  for (const row of fileSections) {
    if (row.table === null) owned.set(row.kind, people[row.kind].length);
    else owned.set(row.kind, await countRows(connection.selectFrom(row.table).where("managed_by", "=", "file")));
  }
  return owned;
}

/**
 * Sections that would lose at least two objects and more than a quarter, or all objects. Also each removed guardrail, since calls would
 * no longer be checked, and each removed retention setting, since its default may delete data permanently.
 */
function largeRemovals(
  changes: ApplyReport,
  config: ConfigFile,
  owned: ReadonlyMap<Kind, number>,
): readonly Conflict[] {
  const removals = changes.filter(({ action }) => action === "suspend" || action === "release" || action === "remove");
  const large = fileSections.flatMap(({ kind, word }): string[] => {
    const names = removals.flatMap(({ object }) => (object.startsWith(word) ? [object.slice(word.length)] : []));
    const count = owned.get(kind) ?? 0;
    const isLarge =
      (names.length >= 2 && names.length * 4 > count) || (names.length > 0 && countDeclared(kind, config) === 0);
    const isRetention = kind === "settings" && names.some((name) => name.endsWith(".retention_days"));
    if (!isLarge && !isRetention && !(kind === "guardrails" && names.length > 0)) return [];
    return [`${names.length} of ${count} ${kind} (${shortList(names)})`];
  });
  if (large.length === 0) return [];
  const message = `the file no longer declares ${large.join(", ")}. If this is intended, confirm it with \`sluice apply --prune\`, or set SLUICE_CONFIG_PRUNE=allow; nothing was changed`;
  return [{ path: [], message }];
}

function countDeclared(kind: Kind, config: ConfigFile): number {
  const workspaces = config.workspaces ?? [];
  switch (kind) {
    case "groups":
      // Each workspace has at least one group.
      return workspaces.length;
    case "keys":
      return workspaces.reduce((sum, { keys = [] }) => sum + keys.length, 0);
    case "guardrails":
      return workspaces.reduce((sum, { guardrails = [] }) => sum + guardrails.length, config.guardrails?.length ?? 0);
    case "budgets":
      return workspaces.reduce((sum, { budgets = [] }) => sum + budgets.length, config.budgets?.length ?? 0);
    case "settings":
      return Object.keys(config.settings ?? {}).length;
    default:
      return config[kind]?.length ?? 0;
  }
}
