import { Failure } from "#core/index.ts";
import type { NewKey } from "#ports/index.ts";
import type { Connection, KeyRow } from "#storage/tables.ts";
import { mayHoldKeys } from "./people-keys.ts";
import { isLimited } from "./people-limits.ts";

/** Throws for an owner whom a key cannot have. */
export async function refuseOwner(
  connection: Connection,
  workspaceId: string,
  owner: string | null | undefined,
  row: Pick<KeyRow, "service"> & Partial<KeyRow>,
): Promise<void> {
  if (owner === undefined || owner === null) return;
  if (row.service === 1) {
    throw new Failure("invalid_request", "A service token belongs to nobody.", { param: "owner" });
  }
  if (row.person_id != null) {
    throw new Failure("conflict", `The key ${row.name} is that of somebody's sign-ins, and theirs already.`);
  }
  if (await mayHoldKeys(connection, workspaceId, owner)) return;
  throw new Failure(
    "invalid_request",
    "`owner` must be somebody who makes keys in this workspace, or an administrator, and who is not disabled.",
    { param: "owner" },
  );
}

/**
 * Whom a new key counts for. A member whom something limits makes keys of their own alone: any other would be a way around the limit. An
 * admin, who sets limits, says it.
 */
export async function ownerOfNew(
  connection: Connection,
  workspaceId: string,
  { createdBy, owner }: Pick<NewKey, "createdBy" | "owner">,
): Promise<string | null> {
  if (createdBy === null || (owner ?? null) !== null) return owner ?? null;
  const bound =
    (await isMemberOnly(connection, workspaceId, createdBy)) && (await isLimited(connection, workspaceId, createdBy));
  if (!bound) return null;
  if (owner === undefined) return createdBy;
  const message = "Your use of this workspace is limited, so the keys that you make are your own.";
  throw new Failure("forbidden", message, { param: "owner" });
}

async function isMemberOnly(connection: Connection, workspaceId: string, userId: string): Promise<boolean> {
  const row = await connection
    .selectFrom("auth_users")
    .innerJoin("members", "members.user_id", "auth_users.id")
    .select(["auth_users.administrator", "members.role"])
    .where("auth_users.id", "=", userId)
    .where("members.workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row !== undefined && row.administrator === 0 && row.role === "member";
}
