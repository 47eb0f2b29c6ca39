import type { KeyConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import { type Conflict, defaultGroupName } from "@sluice/contract/words";
import { Secret } from "#core/index.ts";
import {
  type Connection,
  chunksOf,
  insertRows,
  type KeyRow,
  patternsOf,
  recognition,
  reconcile,
  suspendRows,
  updateRow,
} from "#storage/tables.ts";
import type { ApplyContext } from "../control-options.ts";
import { blankKey, keyCountProblems, keyObject, nameOfRevoked, secretProblems } from "../keys/key-rules.ts";
import { conflictsAt, refuseConflicts } from "../refusals.ts";
import { grantProblems } from "../workspaces/workspace-rows.ts";

/** Where the keys of this apply stand. */
export interface KeyPlaces {
  readonly workspaceIds: ReadonlyMap<string, string>;
  /** By `placeOf`. */
  readonly groupIds: ReadonlyMap<string, string>;
  /** Slugs of every workspace, by id. */
  readonly slugs: ReadonlyMap<string, string>;
}

/**
 * Keys become what the file says. One that vanished is suspended: it keeps its secret and opens nothing. One whose secret the file leaves
 * out keeps the secret that was made for it. A revoked key stays revoked: it gives its name up to a new key, made with
 * what the file says; one of the file itself does so once the file gives another secret.
 */
export async function applyKeys(
  context: ApplyContext,
  workspaces: readonly WorkspaceConfig[],
  places: KeyPlaces,
): Promise<void> {
  const { transaction } = context;
  const object = keyObject(places.slugs);
  const existing = await keysInUse(context, await concernedKeys(context, workspaces, places), workspaces, places);
  const byPlace = new Map(existing.map((row) => [placeOf(row), row]));
  refuseConflicts(await grantConflicts(context, workspaces, places, byPlace));
  const wanted = wantedKeys(context, workspaces, places, byPlace);
  const { create, update, vanished } = reconcile(existing, [...wanted.keys()], placeOf);

  // Order matters, since a digest is unique: what is suspended gives up a secret that the file gives to another key, and so does
  // what gets another.
  await suspendRows(context, object, vanished);
  await takeFromSuspended(transaction, wanted);
  const moved = update.filter(({ before, after }) => before.digest !== null && before.digest !== after.digest);
  for (const chunk of chunksOf(moved.map(({ before }) => before.id))) {
    const none = { digest: null, old_digest: null, old_until: null };
    await transaction
      .updateTable("api_keys")
      .set(none)
      .where("id", "in", [...chunk])
      .execute();
  }
  // By now only keys the file does not name, or names with this very secret, still hold one.
  const secrets = [...wanted].map(([{ id, digest }, path]) => ({ id, digest, path }));
  refuseConflicts(await secretProblems(transaction, secrets));
  for (const change of update) await updateRow(context, object, change);
  await insertRows(context, object, create);
  const grown = new Set(create.map((row) => row.workspace_id));
  for (const [index, { slug }] of workspaces.entries()) {
    const workspaceId = places.workspaceIds.get(slug) ?? "";
    if (!grown.has(workspaceId)) continue;
    refuseConflicts(conflictsAt(["workspaces", index, "keys"], await keyCountProblems(transaction, workspaceId)));
  }
}

/** What a group or key is known by, across applies. */
export function placeOf(row: Pick<KeyRow, "workspace_id" | "name">): string {
  return `${row.workspace_id}/${row.name}`;
}

/** The file's keys, and those made elsewhere that have the name of one the file declares. */
async function concernedKeys(
  context: ApplyContext,
  workspaces: readonly WorkspaceConfig[],
  places: KeyPlaces,
): Promise<readonly KeyRow[]> {
  const { transaction } = context;
  const rows = await transaction.selectFrom("api_keys").selectAll().where("managed_by", "=", "file").execute();
  const known = new Set(rows.map(placeOf));
  for (const workspace of workspaces) {
    const workspaceId = places.workspaceIds.get(workspace.slug) ?? "";
    const names = (workspace.keys ?? []).map((key) => key.name);
    const strange = names.filter((name) => !known.has(placeOf({ workspace_id: workspaceId, name })));
    for (const chunk of chunksOf(strange)) {
      rows.push(
        ...(await transaction
          .selectFrom("api_keys")
          .selectAll()
          .where("workspace_id", "=", workspaceId)
          .where("name", "in", chunk)
          .execute()),
      );
    }
  }
  return rows;
}

/** Without the revoked keys that give up their name, which is written here. */
async function keysInUse(
  context: ApplyContext,
  keys: readonly KeyRow[],
  workspaces: readonly WorkspaceConfig[],
  places: KeyPlaces,
): Promise<readonly KeyRow[]> {
  const declared = new Map(
    workspaces.flatMap(({ slug, keys: own = [] }) =>
      own.map((key) => [placeOf({ workspace_id: places.workspaceIds.get(slug) ?? "", name: key.name }), key] as const),
    ),
  );
  const inUse: KeyRow[] = [];
  for (const before of keys) {
    const key = declared.get(placeOf(before));
    const givesWay =
      before.revoked_at !== null &&
      key !== undefined &&
      (before.managed_by !== "file" || isRenewed(context, key, before));
    if (givesWay) {
      const name = await nameOfRevoked(context.transaction, before);
      const after: KeyRow = { ...before, name, managed_by: "console" };
      await updateRow(context, keyObject(places.slugs), { before, after });
    } else inUse.push(before);
  }
  return inUse;
}

function isRenewed({ vault }: ApplyContext, { secret }: KeyConfig, before: KeyRow): boolean {
  return secret !== undefined && vault.digest(secret) !== before.digest;
}

async function grantConflicts(
  { transaction }: ApplyContext,
  workspaces: readonly WorkspaceConfig[],
  places: KeyPlaces,
  byPlace: ReadonlyMap<string, KeyRow>,
): Promise<readonly Conflict[]> {
  const found: Conflict[] = [];
  for (const [index, { slug, keys = [] }] of workspaces.entries()) {
    const workspaceId = places.workspaceIds.get(slug) ?? "";
    for (const [at, key] of keys.entries()) {
      if (key.pass_through === undefined) continue;
      const before = byPlace.get(placeOf({ workspace_id: workspaceId, name: key.name }));
      const problems = await grantProblems(transaction, key.pass_through, patternsOf(before?.pass_through ?? "[]"));
      found.push(...conflictsAt(["workspaces", index, "keys", at], problems));
    }
  }
  return found;
}

/** Rows with the place in the file they come from. */
function wantedKeys(
  context: ApplyContext,
  workspaces: readonly WorkspaceConfig[],
  places: KeyPlaces,
  byPlace: ReadonlyMap<string, KeyRow>,
): ReadonlyMap<KeyRow, Conflict["path"]> {
  const wanted = new Map<KeyRow, Conflict["path"]>();
  workspaces.forEach((workspace, index) => {
    const workspaceId = places.workspaceIds.get(workspace.slug) ?? "";
    (workspace.keys ?? []).forEach((key, keyIndex) => {
      const before = byPlace.get(placeOf({ workspace_id: workspaceId, name: key.name }));
      const groupId =
        places.groupIds.get(placeOf({ workspace_id: workspaceId, name: key.group ?? defaultGroupName })) ?? "";
      const row = keyRow(context, key, { workspace_id: workspaceId, group_id: groupId }, before);
      wanted.set(row, ["workspaces", index, "keys", keyIndex, "secret"]);
    });
  });
  return wanted;
}

function keyRow(
  context: ApplyContext,
  key: KeyConfig,
  place: Pick<KeyRow, "workspace_id" | "group_id">,
  before: KeyRow | undefined,
): KeyRow {
  const { name, group: _group, secret: _secret, expires_at, ...fields } = key;
  const expires = expires_at === undefined ? null : Date.parse(expires_at);
  const row = blankKey(context, { ...place, name }, { ...fields, expires_at: expires });
  const kept =
    before === undefined ? {} : { id: before.id, created_at: before.created_at, created_by: before.created_by };
  return { ...row, ...kept, ...secretColumns(context, key, before) };
}

type SecretColumns = Pick<KeyRow, "digest" | "prefix" | "last_four" | "revoked_at" | "old_digest" | "old_until">;

function secretColumns(context: ApplyContext, key: KeyConfig, before: KeyRow | undefined): SecretColumns {
  const kept: SecretColumns = {
    digest: before?.digest ?? null,
    prefix: before?.prefix ?? "",
    last_four: before?.last_four ?? "",
    revoked_at: before?.revoked_at ?? null,
    old_digest: before?.old_digest ?? null,
    old_until: before?.old_until ?? null,
  };
  if (key.secret === undefined) return kept;
  const digest = context.vault.digest(key.secret);
  if (digest === kept.digest) return kept;
  return { digest, ...recognition(new Secret(key.secret)), revoked_at: null, old_digest: null, old_until: null };
}

async function takeFromSuspended(
  transaction: Connection,
  wanted: ReadonlyMap<KeyRow, Conflict["path"]>,
): Promise<void> {
  const none = { digest: null, old_digest: null, old_until: null };
  for (const chunk of chunksOf([...wanted.keys()].flatMap(({ digest }) => digest ?? []))) {
    await transaction
      .updateTable("api_keys")
      .set(none)
      .where("managed_by", "=", "suspended")
      .where((eb) => eb.or([eb("digest", "in", chunk), eb("old_digest", "in", chunk)]))
      .execute();
  }
}
