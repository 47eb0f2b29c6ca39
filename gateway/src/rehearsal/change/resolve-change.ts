import type { RehearsedChange } from "@sluice/contract/config-file";
import { type ConfigSnapshot, invalidRequest, type Model, personScopeId, type Workspace } from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { type Path, refuse, unknownName } from "./change-fault.ts";
import { memberNamed } from "./members.ts";
import { changedModels } from "./model-change.ts";
import { objectIds } from "./object-ids.ts";
import type { RehearsedChanges } from "./rehearsed-changes.ts";
import { resolveBudgets } from "./resolve-budgets.ts";
import { resolveGuardrails } from "./resolve-guardrails.ts";
import { type ScopeChange, type ScopeFields, scopeChangeOf } from "./scope-change.ts";

export interface ResolvedChange {
  readonly changes: RehearsedChanges;
  /** The workspace of the rehearsal, or those with calls that the change may concern; null: all. */
  readonly workspaceIds: readonly string[] | null;
}

type WorkspaceChange = NonNullable<RehearsedChange["workspaces"]>[number];

/**
 * Resolves the names in a change. Throws `invalid_request` with the path of the first name that is unknown or repeated.
 * `workspaceId`: only calls of this workspace are replayed; null: all that the change may concern.
 */
export async function resolveChange(
  change: RehearsedChange,
  configSnapshot: Pick<
    ConfigSnapshot,
    "workspaces" | "groups" | "models" | "providers" | "budgetPolicies" | "guardrails"
  >,
  database: Database,
  workspaceId: string | null = null,
): Promise<ResolvedChange> {
  const workspaces = new Map<string, ScopeChange>();
  const groups = new Map<string, ScopeChange>();
  const keys = new Map<string, ScopeChange>();
  const people = new Map<string, ScopeChange & { readonly label: string }>();
  const bySlug = new Map([...configSnapshot.workspaces.values()].map((workspace) => [workspace.slug, workspace]));
  const touched = new Set<string>();
  const find = (slug: string, path: Path): Workspace => {
    const workspace = bySlug.get(slug) ?? unknownName(path, "workspace", slug);
    touched.add(workspace.id);
    return workspace;
  };
  for (const [index, config] of (change.workspaces ?? []).entries()) {
    const path = ["workspaces", index];
    const workspace = find(config.slug, [...path, "slug"]);
    addOnce(workspaces, workspace.id, scopeChange(config, path, configSnapshot), [...path, "slug"], config.slug);
    resolveGroups(config, workspace, path, configSnapshot, groups);
    await resolveKeys(config, workspace, path, configSnapshot, database, keys);
  }
  for (const [index, user] of (change.users ?? []).entries()) {
    const path = ["users", index];
    for (const [place, limited] of user.workspaces.entries()) {
      const at = [...path, "workspaces", place, "workspace"];
      const workspace = find(limited.workspace, at);
      const id = await memberNamed(user.email, workspace.id, database);
      if (id === null) unknownName([...path, "email"], `member of ${workspace.slug}`, user.email);
      const limits = scopeChange(limited, [...path, "workspaces", place], configSnapshot);
      const label = `person ${workspace.slug}/${user.email}`;
      addOnce(people, personScopeId(workspace.id, id), { ...limits, label }, at, limited.workspace);
    }
  }
  const { models: configs = [], guardrails: installed = [], budgets = [] } = change;
  const isOfAll = configs.length > 0 || installed.length > 0 || budgets.length > 0;
  if (touched.size === 0 && !isOfAll) {
    throw invalidRequest("change", "The change is empty. Write the fields that you want to change.");
  }
  const models = changedModels(configs, configSnapshot);
  const concerned = isOfAll ? null : [...touched];
  const workspaceIds = workspaceId === null ? concerned : [workspaceId];
  const ids = objectIds(configSnapshot, database);
  const policies = await resolveBudgets(change, { config: configSnapshot, database, ids, workspaceIds });
  const guardrails = await resolveGuardrails(change, configSnapshot, ids);
  return { changes: { workspaces, groups, keys, people, policies, guardrails, ...models }, workspaceIds };
}

function resolveGroups(
  { groups: configs = [] }: WorkspaceChange,
  workspace: Workspace,
  path: Path,
  { groups, models }: Pick<ConfigSnapshot, "groups" | "models">,
  found: Map<string, ScopeChange>,
): void {
  if (configs.length === 0) return;
  const groupsHere = [...groups.values()].filter(({ workspaceId }) => workspaceId === workspace.id);
  for (const [index, config] of configs.entries()) {
    const own = [...path, "groups", index];
    const at = [...own, "name"];
    const group = groupsHere.find(({ name }) => name === config.name);
    if (group === undefined) unknownName(at, "group", config.name);
    addOnce(found, group.id, scopeChange(config, own, { models }), at, config.name);
  }
}

async function resolveKeys(
  { keys: configs = [] }: WorkspaceChange,
  workspace: Workspace,
  path: Path,
  { models }: Pick<ConfigSnapshot, "models">,
  { kysely }: Database,
  found: Map<string, ScopeChange>,
): Promise<void> {
  if (configs.length === 0) return;
  const rows = await kysely
    .selectFrom("api_keys")
    .select(["id", "name"])
    .where("workspace_id", "=", workspace.id)
    .where(
      "name",
      "in",
      configs.map(({ name }) => name),
    )
    .execute();
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  for (const [index, config] of configs.entries()) {
    const own = [...path, "keys", index];
    const at = [...own, "name"];
    const id = ids.get(config.name);
    if (id === undefined) unknownName(at, "key", config.name);
    addOnce(found, id, scopeChange(config, own, { models }), at, config.name);
  }
}

function scopeChange(fields: ScopeFields, path: Path, { models }: { models: ReadonlyMap<string, Model> }): ScopeChange {
  const over = fields.budget?.over;
  if (typeof over === "object" && !models.has(over.fallback)) {
    unknownName([...path, "budget", "over", "fallback"], "model", over.fallback);
  }
  return scopeChangeOf(fields);
}

function addOnce<Change>(found: Map<string, Change>, id: string, change: Change, path: Path, name: string): void {
  if (found.has(id)) refuse(path, `"${name}" is in the change twice`);
  found.set(id, change);
}
