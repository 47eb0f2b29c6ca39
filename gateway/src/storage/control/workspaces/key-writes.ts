import { Failure } from "#core/index.ts";
import type { KeyListing, NewKey } from "#ports/index.ts";
import { ChangeLog } from "../../changes/change-log.ts";
import type { Connection } from "../../database/database.ts";
import { patternsText, scopeColumns } from "../../database/scope-columns.ts";
import {
  everyBound,
  type KeyRow,
  keyView,
  listingOf,
  type NamedKeyRow,
  namedKeys,
  recognition,
} from "../../keys/key-rows.ts";
import type { ControlOptions } from "../config-file/apply-config.ts";

/**
 * Stores a new key by the digest of its secret. A key the file declares without a secret gets this one and keeps
 * what the file says of it. The name of a revoked key may be used again: same key, new secret.
 */
export async function createKey(options: ControlOptions, key: NewKey, actor: string): Promise<KeyListing> {
  const { database, clock, vault } = options;
  return await database.kysely.transaction().execute(async (transaction) => {
    const place = await placeOf(transaction, key);
    const digest = vault.digest(key.secret.reveal());
    await refuseTakenSecret(transaction, digest);
    const before = await transaction
      .selectFrom("api_keys")
      .selectAll()
      .where("workspace_id", "=", place.workspace_id)
      .where("name", "=", key.name)
      .executeTakeFirst();
    if (before !== undefined && before.digest !== null && before.revoked_at === null) {
      const message = `The workspace ${place.workspace_slug} has a key called ${key.name}. Revoke it first.`;
      throw new Failure("invalid_request", message, { param: "name" });
    }
    const at = clock.now();
    const secret = { digest, ...recognition(key.secret), revoked_at: null, old_digest: null, old_until: null };
    const row: KeyRow =
      before?.managed_by === "file"
        ? { ...before, ...secret }
        : { ...newRow(options, key, place, before, at), ...secret };
    const log = new ChangeLog(actor, at);
    const label = `key ${place.workspace_slug}/${key.name}`;
    if (before === undefined) await transaction.insertInto("api_keys").values(row).execute();
    else await transaction.updateTable("api_keys").set(row).where("id", "=", row.id).execute();
    log.record(
      before === undefined ? "create" : "update",
      label,
      before === undefined ? null : keyView(before),
      keyView(row),
      row.workspace_id,
    );
    log.keyChanged(before?.digest ?? null);
    log.keyChanged(before?.old_digest ?? null);
    log.keyChanged(digest);
    await log.write(transaction);
    return listingOf(await namedKeys(transaction).where("api_keys.id", "=", row.id).executeTakeFirstOrThrow());
  });
}

/** Revoking twice is revoking once. */
export async function revokeKey(
  options: ControlOptions,
  idOrPrefix: string,
  actor: string,
): Promise<KeyListing | null> {
  const { database, clock } = options;
  return await database.kysely.transaction().execute(async (transaction) => {
    const found = await oneKey(transaction, idOrPrefix);
    if (found === null || found.revoked_at !== null) return found === null ? null : listingOf(found);
    const at = clock.now();
    const ended = { revoked_at: at, old_digest: null, old_until: null };
    await transaction.updateTable("api_keys").set(ended).where("id", "=", found.id).execute();
    const after = { ...found, ...ended };
    const log = new ChangeLog(actor, at);
    log.record(
      "revoke",
      `key ${found.workspace_slug}/${found.name}`,
      keyView(found),
      keyView(after),
      found.workspace_id,
    );
    log.keyChanged(found.digest);
    log.keyChanged(found.old_digest);
    await log.write(transaction);
    return listingOf(after);
  });
}

interface Place {
  readonly workspace_id: string;
  readonly workspace_slug: string;
  readonly group_id: string;
}

async function placeOf(connection: Connection, key: NewKey): Promise<Place> {
  const workspace = await connection
    .selectFrom("workspaces")
    .select(["id", "slug"])
    .where("slug", "=", key.workspace)
    .executeTakeFirst();
  if (workspace === undefined) {
    throw new Failure("not_found", `There is no workspace called ${key.workspace}.`, { param: "workspace" });
  }
  const group = await connection
    .selectFrom("groups")
    .select("id")
    .where("workspace_id", "=", workspace.id)
    .where("name", "=", key.group)
    .executeTakeFirst();
  if (group === undefined) {
    const message = `The workspace ${key.workspace} has no group called ${key.group}.`;
    throw new Failure("not_found", message, { param: "group" });
  }
  return { workspace_id: workspace.id, workspace_slug: workspace.slug, group_id: group.id };
}

export async function refuseTakenSecret(connection: Connection, digest: string): Promise<void> {
  const holder = await connection
    .selectFrom("api_keys")
    .select("id")
    .where((eb) => eb.or([eb("digest", "=", digest), eb("old_digest", "=", digest)]))
    .executeTakeFirst();
  if (holder === undefined) return;
  throw new Failure("invalid_request", "Another key already has this secret.", { param: "secret" });
}

function newRow(options: ControlOptions, key: NewKey, place: Place, before: KeyRow | undefined, at: number) {
  return {
    id: before?.id ?? options.ids.next("key_"),
    workspace_id: place.workspace_id,
    group_id: place.group_id,
    name: key.name,
    models: patternsText(key.models),
    pass_through: JSON.stringify(key.passThrough ?? []),
    allowed_ips: patternsText(key.allowedIps),
    ...scopeColumns(key.limits, key.budget),
    tags: "{}",
    capture: "none",
    created_by: null,
    set_by_admins: everyBound,
    enabled: 1,
    expires_at: key.expiresAt,
    managed_by: "console" as const,
    created_at: at,
  };
}

export async function oneKey(connection: Connection, idOrPrefix: string): Promise<NamedKeyRow | null> {
  const byId = await namedKeys(connection).where("api_keys.id", "=", idOrPrefix).executeTakeFirst();
  if (byId !== undefined) return byId;
  // A declared key without a secret has an empty prefix, which names nothing.
  if (idOrPrefix === "") return null;
  const [only, other] = await namedKeys(connection).where("api_keys.prefix", "=", idOrPrefix).limit(2).execute();
  if (only === undefined) return null;
  if (other === undefined) return only;
  throw new Failure("invalid_request", `Several keys begin with ${idOrPrefix}. Name one by its id.`, { param: "key" });
}
