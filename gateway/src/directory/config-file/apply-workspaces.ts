import type { BudgetConfig, KeyConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import { type Conflict, defaultGroupName } from "@sluice/contract/words";
import { Secret } from "#core/index.ts";
import {
  type Connection,
  insertRows,
  type KeyRow,
  patternsOf,
  recognition,
  reconcile,
  suspendRows,
  updateRow,
} from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { keyCountProblems, keyObject, keyRowDefaults, nameOfRevoked, secretProblems } from "../keys/key-rules.ts";
import { conflictsAt, type Problem, refuseConflicts } from "../refusals.ts";
import { applyRows, findRow, findRows, not, setColumns, suspendOrRelease } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { groupCountProblems } from "../workspaces/groups.ts";
import {
  type GroupRow,
  grantProblems,
  groupObject,
  groupRow,
  workspaceObject,
  workspaceRow,
} from "../workspaces/workspace-rows.ts";
import { openWork } from "../workspaces/workspaces.ts";

/**
 * Applies the workspaces of the file with their groups and keys. A workspace or group that it no longer declares is suspended, or
 * released to the console while it has objects that the file never declared.
 */
export async function applyWorkspaces(context: ControlWrite, workspaces: readonly WorkspaceConfig[]): Promise<void> {
  const { transaction } = context;
  const existing = await findRows(transaction, "workspaces", {});
  const bySlug = new Map(existing.map((row) => [row.slug, row]));
  const wanted = workspaces.map((workspace) => workspaceRow(context, workspace, bySlug.get(workspace.slug)));
  const slugs = new Map([...existing, ...wanted].map((row) => [row.id, row.slug]));
  const declared = workspaces.map((config, index) => ({ config, name: config.slug, path: ["workspaces", index] }));
  await refuseGrants(transaction, declared, bySlug);
  const { vanished } = await applyRows(context, workspaceObject, existing, wanted, (row) => row.slug);
  const ids = wanted.map((row) => row.id);
  const groups = await applyGroups(context, workspaces, ids, slugs);
  await applyKeys(context, declaredIn(workspaces, ids, "keys"), groups.ids, slugs);
  const inUse = new Set<string>();
  for (const { id } of vanished) if ((await openWork(transaction, id)) !== null) inUse.add(id);
  for (const row of groups.vanished) {
    // A workspace with an open task or assets is released with its groups.
    const key = await findRow(transaction, "api_keys", { group_id: row.id, managed_by: not("suspended") });
    await suspendOrRelease(context, groupObject(slugs), row, key !== undefined || inUse.has(row.workspace_id));
  }
  for (const row of vanished) {
    const group = await findRow(transaction, "groups", { workspace_id: row.id, managed_by: not("suspended") });
    await suspendOrRelease(context, workspaceObject, row, group !== undefined);
  }
}

function qualifiedName(row: Pick<KeyRow, "workspace_id" | "name">): string {
  return `${row.workspace_id}/${row.name}`;
}

/** An object of the file and its path. */
interface Declared<Config> {
  readonly config: Config;
  /** Its `qualifiedName`; of a workspace, the slug. */
  readonly name: string;
  readonly path: Conflict["path"];
}

type DeclaredIn<Config> = Declared<Config> & { readonly workspaceId: string };

/** The groups or keys of all workspaces. `ids`: the ids of the workspaces, in their order. */
function declaredIn<Kind extends "groups" | "keys">(
  workspaces: readonly WorkspaceConfig[],
  ids: readonly string[],
  kind: Kind,
): readonly DeclaredIn<NonNullable<WorkspaceConfig[Kind]>[number]>[] {
  return workspaces.flatMap((workspace, index) => {
    const workspaceId = ids[index] ?? "";
    return (workspace[kind] ?? []).map((config, at) => ({
      config,
      workspaceId,
      name: qualifiedName({ workspace_id: workspaceId, name: config.name }),
      path: ["workspaces", index, kind, at],
    }));
  });
}

async function refuseGrants(
  connection: Connection,
  declared: readonly Declared<{
    readonly pass_through?: string[] | undefined;
    readonly budget?: BudgetConfig | undefined;
  }>[],
  before: ReadonlyMap<string, { readonly pass_through: string }>,
): Promise<void> {
  const found: Conflict[] = [];
  for (const { config, name, path } of declared) {
    const granted = patternsOf(before.get(name)?.pass_through ?? "[]");
    found.push(...conflictsAt(path, await grantProblems(connection, config.pass_through, granted)));
    found.push(...conflictsAt(path, await budgetProblems(connection, config.budget)));
  }
  refuseConflicts(found);
}

/** Checks only workspaces that got new rows. */
async function refuseTooMany(
  declared: readonly DeclaredIn<object>[],
  created: readonly { readonly workspace_id: string }[],
  problemsIn: (workspaceId: string) => Promise<readonly Problem[]>,
): Promise<void> {
  const grown = new Set(created.map((row) => row.workspace_id));
  const places = new Map(declared.map(({ workspaceId, path }) => [workspaceId, path.slice(0, -1)]));
  for (const [workspaceId, path] of places) {
    if (grown.has(workspaceId)) refuseConflicts(conflictsAt(path, await problemsIn(workspaceId)));
  }
}

/** A workspace without groups in the file gets `default`. Returns the group ids by `qualifiedName`. */
async function applyGroups(
  context: ControlWrite,
  workspaces: readonly WorkspaceConfig[],
  ids: readonly string[],
  slugs: ReadonlyMap<string, string>,
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly vanished: readonly GroupRow[] }> {
  const { transaction } = context;
  const existing = await findRows(transaction, "groups", {});
  const before = new Map(existing.map((row) => [qualifiedName(row), row]));
  const grouped = workspaces.map((workspace) =>
    (workspace.groups ?? []).length === 0 ? { ...workspace, groups: [{ name: defaultGroupName }] } : workspace,
  );
  const declared = declaredIn(grouped, ids, "groups");
  await refuseGrants(transaction, declared, before);
  const wanted = declared.map(({ config, workspaceId, name }) =>
    groupRow(context, config, workspaceId, before.get(name)),
  );
  const { create, vanished } = await applyRows(context, groupObject(slugs), existing, wanted, qualifiedName);
  await refuseTooMany(declared, create, (workspaceId) => groupCountProblems(transaction, workspaceId));
  return { ids: new Map(wanted.map((row) => [qualifiedName(row), row.id])), vanished };
}

const noSecret = { digest: null, old_digest: null, old_until: null };

/**
 * Applies the keys of the file. A key that it no longer declares is suspended and keeps its secret. A key without a secret in the file
 * keeps its current one. A revoked key stays revoked and leaves its name to a new key; if the file declared it, only once the file has
 * another secret.
 */
async function applyKeys(
  context: ControlWrite,
  declared: readonly DeclaredIn<KeyConfig>[],
  groupIds: ReadonlyMap<string, string>,
  slugs: ReadonlyMap<string, string>,
): Promise<void> {
  const { transaction } = context;
  const object = keyObject(slugs);
  const existing = await keysInUse(context, declared, slugs);
  const byName = new Map(existing.map((row) => [qualifiedName(row), row]));
  await refuseGrants(transaction, declared, byName);
  const wanted = declared.map(({ config, workspaceId: workspace_id, name }) => {
    const group_id = groupIds.get(qualifiedName({ workspace_id, name: config.group ?? defaultGroupName })) ?? "";
    return keyRow(context, config, { workspace_id, group_id }, byName.get(name));
  });
  const { create, update, vanished } = reconcile(existing, wanted, qualifiedName);

  // Digests are unique, so remove secrets that the file now has for other keys first.
  await suspendRows(context, object, vanished);
  const digests = wanted.flatMap(({ digest }) => digest ?? []);
  await setColumns(transaction, "api_keys", { managed_by: "suspended", digest: digests }, noSecret);
  await setColumns(transaction, "api_keys", { managed_by: "suspended", old_digest: digests }, noSecret);
  const moved = update.filter(({ before, after }) => before.digest !== null && before.digest !== after.digest);
  await setColumns(transaction, "api_keys", { id: moved.map(({ before }) => before.id) }, noSecret);
  const secrets = wanted.map((row, index) => ({ ...row, path: [...(declared[index]?.path ?? []), "secret"] }));
  refuseConflicts(await secretProblems(transaction, secrets));
  for (const change of update) await updateRow(context, object, change);
  await insertRows(context, object, create);
  await refuseTooMany(declared, create, (workspaceId) => keyCountProblems(transaction, workspaceId));
}

/** The file's keys and other keys with a declared name. Renames revoked keys so that new keys can have their name, and leaves them out. */
async function keysInUse(
  context: ControlWrite,
  declared: readonly DeclaredIn<KeyConfig>[],
  slugs: ReadonlyMap<string, string>,
): Promise<readonly KeyRow[]> {
  const { transaction, vault } = context;
  const rows = await findRows(transaction, "api_keys", { managed_by: "file" });
  const fileNames = new Set(rows.map(qualifiedName));
  const added = Map.groupBy(
    declared.filter(({ name }) => !fileNames.has(name)),
    ({ workspaceId }) => workspaceId,
  );
  for (const [workspaceId, keys] of added) {
    const names = keys.map(({ config }) => config.name);
    rows.push(...(await findRows(transaction, "api_keys", { workspace_id: workspaceId, name: names })));
  }
  const secrets = new Map(declared.map(({ config, name }) => [name, config.secret]));
  const inUse: KeyRow[] = [];
  for (const before of rows) {
    const secret = secrets.get(qualifiedName(before));
    const isRenewed = secret !== undefined && vault.digest(secret) !== before.digest;
    if (
      before.revoked_at !== null &&
      secrets.has(qualifiedName(before)) &&
      (before.managed_by !== "file" || isRenewed)
    ) {
      const name = await nameOfRevoked(transaction, before);
      await updateRow(context, keyObject(slugs), { before, after: { ...before, name, managed_by: "console" } });
    } else inUse.push(before);
  }
  return inUse;
}

function keyRow(
  context: ControlWrite,
  { name, group: _group, secret, expires_at, ...fields }: KeyConfig,
  place: Pick<KeyRow, "workspace_id" | "group_id">,
  before: KeyRow | undefined,
): KeyRow {
  const expires = expires_at === undefined ? null : Date.parse(expires_at);
  const defaults = keyRowDefaults(context, { ...place, name }, { ...fields, expires_at: expires });
  const { id, created_at, created_by, digest, prefix, last_four, revoked_at, old_digest, old_until } =
    before ?? defaults;
  const row = { ...defaults, id, created_at, created_by };
  const newDigest = secret === undefined ? digest : context.vault.digest(secret);
  if (secret === undefined || newDigest === digest) {
    return { ...row, digest, prefix, last_four, revoked_at, old_digest, old_until };
  }
  return { ...row, digest: newDigest, ...recognition(new Secret(secret)) };
}
