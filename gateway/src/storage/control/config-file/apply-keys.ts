import type { KeyConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import { type Conflict, defaultGroupName } from "@sluice/contract/words";
import { Secret } from "#core/index.ts";
import { chunksOf, reconcile, updateAction } from "../../database/reconcile.ts";
import { patternsText, scopeColumns } from "../../database/scope-columns.ts";
import { everyBound, type KeyRow, keyView, recognition } from "../../keys/key-rows.ts";
import type { ApplyContext } from "./apply-context.ts";
import { refuseConflicts } from "./config-conflict.ts";

/** Where the keys of this apply stand. */
export interface KeyPlaces {
  readonly workspaceIds: ReadonlyMap<string, string>;
  /** By `placeOf`. */
  readonly groupIds: ReadonlyMap<string, string>;
  /** Slugs of every workspace, by id. */
  readonly slugs: ReadonlyMap<string, string>;
}

/**
 * Keys become what the file says. One that vanished is removed and stops working. One whose secret the file leaves
 * out keeps the secret that was made for it; a revoked secret stays revoked until the file gives another one.
 */
export async function applyKeys(
  context: ApplyContext,
  workspaces: readonly WorkspaceConfig[],
  places: KeyPlaces,
): Promise<void> {
  const { transaction, log } = context;
  const existing = await concernedKeys(context, workspaces, places);
  const byPlace = new Map(existing.map((row) => [placeOf(row), row]));
  const wanted = wantedKeys(context, workspaces, places, byPlace);
  const { create, update, vanished } = reconcile(existing, [...wanted.keys()], placeOf);
  const label = (row: KeyRow) => `key ${places.slugs.get(row.workspace_id) ?? row.workspace_id}/${row.name}`;

  // Order matters, since a digest is unique: what vanished gives its secret free, and so does what gets another.
  for (const chunk of chunksOf(vanished.map((row) => row.id))) {
    await transaction.deleteFrom("api_keys").where("id", "in", chunk).execute();
  }
  const moved = update.filter(({ before, after }) => before.digest !== null && before.digest !== after.digest);
  for (const chunk of chunksOf(moved.map(({ before }) => before.id))) {
    await transaction.updateTable("api_keys").set({ digest: null }).where("id", "in", chunk).execute();
  }
  await refuseTakenSecrets(context, wanted);
  for (const { before, after } of update) {
    await transaction.updateTable("api_keys").set(after).where("id", "=", after.id).execute();
    log.record(updateAction(before), label(after), keyView(before), keyView(after), after.workspace_id);
  }
  for (const chunk of chunksOf(create))
    await transaction
      .insertInto("api_keys")
      .values([...chunk])
      .execute();
  for (const row of create) log.record("create", label(row), null, keyView(row), row.workspace_id);
  for (const row of vanished) log.record("remove", label(row), keyView(row), null, row.workspace_id);
  for (const row of [...vanished, ...create, ...update.flatMap(({ before, after }) => [before, after])]) {
    log.keyChanged(row.digest);
    log.keyChanged(row.old_digest);
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
      const row = keyRow(context, key, { workspaceId, groupId }, before);
      wanted.set(row, ["workspaces", index, "keys", keyIndex, "secret"]);
    });
  });
  return wanted;
}

function keyRow(
  context: ApplyContext,
  key: KeyConfig,
  place: { readonly workspaceId: string; readonly groupId: string },
  before: KeyRow | undefined,
): KeyRow {
  return {
    id: before?.id ?? context.ids.next("key_"),
    workspace_id: place.workspaceId,
    group_id: place.groupId,
    name: key.name,
    ...secretColumns(context, key, before),
    models: patternsText(key.models),
    pass_through: JSON.stringify(key.pass_through ?? []),
    allowed_ips: patternsText(key.allowed_ips),
    ...scopeColumns(key.limits, key.budget),
    tags: JSON.stringify(key.tags ?? {}),
    enabled: key.enabled === false ? 0 : 1,
    expires_at: key.expires_at === undefined ? null : Date.parse(key.expires_at),
    managed_by: "file",
    created_at: before?.created_at ?? context.at,
    created_by: before?.created_by ?? null,
    set_by_admins: everyBound,
    capture: key.capture ?? "none",
  };
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

/** By now only keys the file does not name, or names with this very secret, still hold one. */
async function refuseTakenSecrets(context: ApplyContext, wanted: ReadonlyMap<KeyRow, Conflict["path"]>): Promise<void> {
  const found: Conflict[] = [];
  const withSecret = [...wanted].filter(([row]) => row.digest !== null);
  for (const chunk of chunksOf(withSecret)) {
    const holders = await context.transaction
      .selectFrom("api_keys")
      .select(["id", "digest"])
      .where(
        "digest",
        "in",
        chunk.map(([row]) => row.digest),
      )
      .execute();
    const holderOf = new Map(holders.map((holder) => [holder.digest, holder.id]));
    for (const [row, path] of chunk) {
      const holder = holderOf.get(row.digest);
      if (holder === undefined || holder === row.id) continue;
      found.push({ path, message: "another key, not in this file, already has this secret" });
    }
  }
  refuseConflicts(found);
}
