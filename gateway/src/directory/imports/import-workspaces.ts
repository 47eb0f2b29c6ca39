import { createHash } from "node:crypto";
import { defaultGroupName } from "@sluice/contract/words";
import { importedDigest, Secret } from "#core/index.ts";
import type { ImportedKey, ImportedSecret, ImportedWorkspace } from "#ports/index.ts";
import { insertRows, type KeyRow, recognition } from "#storage/tables.ts";
import * as rules from "../keys/key-rules.ts";
import { canManageKeys } from "../people/key-owners.ts";
import { refuseProblems } from "../refusals.ts";
import { findRow, findRows } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { addGroup, updateGroup } from "../workspaces/groups.ts";
import { addWorkspace, updateWorkspace } from "../workspaces/workspaces.ts";
import type { Importing } from "./import-records.ts";

export interface ImportedWorkspaces {
  /** The id of a workspace by its slug at the import; undefined: it was skipped. */
  idOf(slug: string): string | undefined;
  /** Call when the owners of the keys are members. */
  addKeys(): Promise<void>;
}

export async function importWorkspaces(importing: Importing): Promise<ImportedWorkspaces> {
  const ids = new Map<string, string>();
  /** By workspace and the name in the draft: the group may have been renamed since an earlier import. */
  const groupIds = new Map<string, string>();
  for (const workspace of importing.draft.workspaces) {
    const found = await importWorkspace(importing, workspace);
    if (found === null) continue;
    ids.set(workspace.slug, found.id);
    for (const group of workspace.groups ?? []) {
      const id = await importGroup(importing, { ...found, slug: workspace.slug }, group);
      groupIds.set(`${found.id}/${group.name}`, id);
    }
  }
  return {
    idOf: (slug) => ids.get(slug),
    async addKeys() {
      for (const workspace of importing.draft.workspaces) {
        const id = ids.get(workspace.slug);
        const groupNamed = (name: string) => groupIds.get(`${id}/${name}`) ?? name;
        if (id !== undefined) await importKeys(importing, { ...workspace, id }, groupNamed);
      }
    },
  };
}

/** null: there is another workspace with this slug. */
async function importWorkspace(
  { context, earlier, made, skip, spent: charge }: Importing,
  { keys, groups: _groups, enabled, spent, ...workspace }: ImportedWorkspace,
): Promise<{ readonly id: string; readonly isNew: boolean } | null> {
  const { slug } = workspace;
  const source = { kind: "workspace", source: slug } as const;
  const before = earlier(source);
  if (before !== null) return { id: before.id, isNew: false };
  if ((await findRow(context.transaction, "workspaces", { slug })) !== undefined) {
    const reason = `there is already such a workspace, made by hand; its ${keys.length} keys were not imported`;
    skip({ object: `workspace ${slug}`, reason });
    return null;
  }
  const { id } = await addWorkspace(context, workspace);
  if (enabled === false) await updateWorkspace(context, id, { enabled });
  made({ ...source, id });
  if (spent !== undefined) charge({ workspaceId: id, groupId: "", keyId: "", usd: spent });
  return { id, isNew: true };
}

/** Returns its id or name. */
async function importGroup(
  { context, earlier, made, spent: charge }: Importing,
  workspace: { readonly id: string; readonly slug: string; readonly isNew: boolean },
  { spent, ...group }: NonNullable<ImportedWorkspace["groups"]>[number],
): Promise<string> {
  // It came with the workspace.
  if (group.name === defaultGroupName) {
    if (workspace.isNew) await updateGroup(context, workspace.id, defaultGroupName, group);
    return defaultGroupName;
  }
  const source = { kind: "group", source: `${workspace.slug}/${group.name}` } as const;
  const before = earlier(source);
  if (before !== null) return before.id;
  const { id } = await addGroup(context, workspace.id, group);
  made({ ...source, id });
  if (spent !== undefined) charge({ workspaceId: workspace.id, groupId: id, keyId: "", usd: spent });
  return id;
}

async function importKeys(
  importing: Importing,
  workspace: ImportedWorkspace & { readonly id: string },
  groupNamed: (name: string) => string,
): Promise<void> {
  const { context, earlier, made, skip, spent: charge } = importing;
  const { transaction } = context;
  const existing = await findRows(transaction, "api_keys", { workspace_id: workspace.id });
  const names = new Set(existing.map(({ name }) => name));
  const groups = new Map((await findRows(transaction, "groups", { workspace_id: workspace.id })).flatMap(groupEntries));
  const wanted: { readonly key: ImportedKey; readonly source: string; readonly row: KeyRow }[] = [];
  for (const key of workspace.keys) {
    const source = keySource(context, workspace.slug, key);
    if (earlier({ kind: "key", source }) !== null) continue;
    if (names.has(key.name)) {
      skip({ object: `key ${workspace.slug}/${key.name}`, reason: "there is already such a key" });
      continue;
    }
    const groupId = groups.get(groupNamed(key.group ?? defaultGroupName)) ?? "";
    wanted.push({ key, source, row: await keyRow(importing, workspace, key, groupId) });
  }
  const problems = await rules.secretProblems(
    transaction,
    wanted.map(({ row }, at) => ({ ...row, path: [at] })),
  );
  const repeated = new Set(problems.map(({ path }) => path[0]));
  for (const [at, { key, source, row }] of wanted.entries()) {
    if (repeated.has(at)) {
      skip({ object: `key ${workspace.slug}/${key.name}`, reason: "another key already has its secret" });
      continue;
    }
    made({ kind: "key", source, id: row.id });
    const owner = row.owner_id === null ? {} : { personId: row.owner_id };
    if (key.spent === undefined) continue;
    charge({ workspaceId: workspace.id, groupId: row.group_id, keyId: row.id, ...owner, usd: key.spent });
  }
  const rows = wanted.filter((_, at) => !repeated.has(at)).map(({ row }) => row);
  await insertRows(context, rules.keyObject(workspace.slug), rows);
  if (rows.length > 0) refuseProblems(await rules.keyCountProblems(transaction, workspace.id));
}

/** A group is found by its name and by its id. */
function groupEntries({ id, name }: { readonly id: string; readonly name: string }) {
  return [[id, id] as const, [name, id] as const];
}

async function keyRow(
  { context, skip }: Importing,
  workspace: ImportedWorkspace & { readonly id: string },
  { name, group: _group, secret, owner, expires_at, spent: _spent, ...fields }: ImportedKey,
  groupId: string,
): Promise<KeyRow> {
  const { transaction, at } = context;
  const change = { ...fields, expires_at: expires_at === undefined ? null : Date.parse(expires_at) };
  refuseProblems(rules.keyProblems({ ...change, name }, { now: at, before: null }));
  let ownerId = owner === undefined ? null : await userIdOf(context, owner);
  if (ownerId !== null && !(await canManageKeys(transaction, workspace.id, ownerId))) {
    skip({ object: `owner of key ${workspace.slug}/${name}`, reason: `${owner} may not create keys there` });
    ownerId = null;
  }
  return {
    ...rules.keyRowDefaults(context, { workspace_id: workspace.id, group_id: groupId, name }, change),
    ...secretColumns(context, secret),
    owner_id: ownerId,
  };
}

async function userIdOf({ transaction }: ControlWrite, email: string): Promise<string | null> {
  const [user] = await findRows(transaction, "auth_users", { email: email.toLowerCase() });
  return user?.id ?? null;
}

/** A key with a SHA-256 instead of its secret gets its own digest at its first use. */
function secretColumns(
  { vault }: ControlWrite,
  secret: ImportedSecret | null,
): Pick<KeyRow, "digest" | "prefix" | "last_four"> {
  if (secret === null) return { digest: null, prefix: "", last_four: "" };
  if (secret instanceof Secret) return { digest: vault.digest(secret.reveal()), ...recognition(secret) };
  return { digest: importedDigest(vault.digest(secret.sha256)), prefix: "", last_four: secret.lastFour };
}

/** Does not change when the secret is used here. */
function keySource({ vault }: ControlWrite, slug: string, { name, secret }: ImportedKey): string {
  if (secret === null) return `${slug}/${name}`;
  const isSecret = secret instanceof Secret;
  return vault.digest(isSecret ? createHash("sha256").update(secret.reveal()).digest("hex") : secret.sha256);
}
