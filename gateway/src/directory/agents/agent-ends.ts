import { personDigest, sessionDigest } from "#core/index.ts";
import { type AuditedWrite, namedKeys, updateRow } from "#storage/tables.ts";
import { keyObject } from "../keys/key-object.ts";
import { mayHoldKeys } from "../people/people-keys.ts";

/**
 * Ends the sign-ins of somebody's agents wherever they may call no more, in the transaction that takes their rights. Their keys stay, with
 * the limits that were set on them, for the day they come back; those of a user who is removed are revoked.
 */
export async function endAgents(
  under: AuditedWrite,
  { userId, removed = false }: { readonly userId: string; readonly removed?: boolean },
): Promise<void> {
  const { transaction } = under;
  const keys = await namedKeys(transaction)
    .where("api_keys.person_id", "=", userId)
    .where("api_keys.revoked_at", "is", null)
    .execute();
  for (const { workspace_slug: slug, group_name: _group, ...key } of keys) {
    if (await mayHoldKeys(transaction, key.workspace_id, userId)) continue;
    await endSessionsOf(under, key.id);
    if (!removed) continue;
    const object = keyObject(new Map([[key.workspace_id, slug]]));
    await updateRow(under, object, { before: key, after: { ...key, revoked_at: under.at }, action: "revoke" });
  }
}

/** Ends every sign-in that calls with a key, and devices that were let in and did not come for it yet. */
async function endSessionsOf({ transaction, log }: AuditedWrite, keyId: string): Promise<void> {
  const ended = await transaction.deleteFrom("agent_sessions").where("key_id", "=", keyId).returning("id").execute();
  await transaction.deleteFrom("agent_devices").where("key_id", "=", keyId).execute();
  for (const { id } of ended) log.keyChanged(sessionDigest(id));
  log.keyChanged(personDigest(keyId));
}
