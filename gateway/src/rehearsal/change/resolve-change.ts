import type { RehearsedChange } from "@sluice/contract/config-file";
import { type ConfigSnapshot, invalidRequest, personScopeId, type Workspace } from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { type Path, refuse, unknownName } from "./change-fault.ts";
import { changedModels } from "./model-change.ts";
import type { RehearsedChanges, RehearsedGuardrail } from "./rehearsed-changes.ts";
import { resolveGuardrails } from "./resolve-guardrails.ts";
import { type ScopeChange, scopeChangeOf } from "./scope-change.ts";

export interface ResolvedChange {
  readonly changes: RehearsedChanges;
  /** Workspaces with calls that it may concern; null: all. */
  readonly workspaceIds: readonly string[] | null;
  readonly guardrails: readonly RehearsedGuardrail[];
}

type WorkspaceChange = NonNullable<RehearsedChange["workspaces"]>[number];

/** Finds what the names of a change mean. Throws `invalid_request` with the path of the first name that is unknown or repeated. */
export async function resolveChange(
  change: RehearsedChange,
  configSnapshot: Pick<ConfigSnapshot, "workspaces" | "groups" | "models" | "providers">,
  database: Database,
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
    addOnce(workspaces, workspace.id, scopeChangeOf(config), [...path, "slug"], config.slug);
    resolveGroups(config, workspace, path, configSnapshot, groups);
    await resolveKeys(config, workspace, path, database, keys);
  }
  for (const [index, user] of (change.users ?? []).entries()) {
    const path = ["users", index];
    for (const [place, limited] of user.workspaces.entries()) {
      const at = [...path, "workspaces", place, "workspace"];
      const workspace = find(limited.workspace, at);
      const id = await memberNamed(user.email, workspace.id, database);
      if (id === null) unknownName([...path, "email"], `member of ${workspace.slug}`, user.email);
      const label = `person ${workspace.slug}/${user.email}`;
      addOnce(people, personScopeId(workspace.id, id), { ...scopeChangeOf(limited), label }, at, limited.workspace);
    }
  }
  const { models: configs = [], guardrails: installed = [] } = change;
  if (touched.size === 0 && configs.length === 0 && installed.length === 0) {
    throw invalidRequest("change", "The change is empty. Write the fields that you want to change.");
  }
  const models = changedModels(configs, configSnapshot);
  return {
    changes: { workspaces, groups, keys, people, ...models },
    workspaceIds: configs.length === 0 && installed.length === 0 ? [...touched] : null,
    guardrails: await resolveGuardrails(change, configSnapshot, database),
  };
}

/** Users of other workspaces are unknown here. */
async function memberNamed(email: string, workspaceId: string, { kysely }: Database): Promise<string | null> {
  const row = await kysely
    .selectFrom("members")
    .innerJoin("auth_users", "auth_users.id", "members.user_id")
    .select("auth_users.id")
    .where("members.workspace_id", "=", workspaceId)
    .where("auth_users.email", "=", email.toLowerCase())
    .executeTakeFirst();
  return row?.id ?? null;
}

function resolveGroups(
  { groups: configs = [] }: WorkspaceChange,
  workspace: Workspace,
  path: Path,
  { groups }: Pick<ConfigSnapshot, "groups">,
  found: Map<string, ScopeChange>,
): void {
  if (configs.length === 0) return;
  const own = [...groups.values()].filter(({ workspaceId }) => workspaceId === workspace.id);
  for (const [index, config] of configs.entries()) {
    const at = [...path, "groups", index, "name"];
    const group = own.find(({ name }) => name === config.name);
    if (group === undefined) unknownName(at, "group", config.name);
    addOnce(found, group.id, scopeChangeOf(config), at, config.name);
  }
}

async function resolveKeys(
  { keys: configs = [] }: WorkspaceChange,
  workspace: Workspace,
  path: Path,
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
    const at = [...path, "keys", index, "name"];
    const id = ids.get(config.name);
    if (id === undefined) unknownName(at, "key", config.name);
    addOnce(found, id, scopeChangeOf(config), at, config.name);
  }
}

function addOnce<Change>(found: Map<string, Change>, id: string, change: Change, path: Path, name: string): void {
  if (found.has(id)) refuse(path, `"${name}" is in the change twice`);
  found.set(id, change);
}
