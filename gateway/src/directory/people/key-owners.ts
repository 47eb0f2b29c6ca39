import type { LeaverKeys } from "@sluice/contract/console";
import { Failure } from "#core/index.ts";
import {
  type AuditedWrite,
  type Connection,
  everyBound,
  type KeyRow,
  type NamedKeyRow,
  namedKeys,
  updateRow,
} from "#storage/tables.ts";
import { keyObject } from "../keys/key-rules.ts";
import { findRow } from "../rows.ts";
import type { UserRow } from "./people-rows.ts";
import { isLimited } from "./person-limits.ts";

interface KeysLeft {
  readonly leaver: Pick<UserRow, "id" | "email">;
  /** What becomes of them; null: nobody said. */
  readonly keys: LeaverKeys | null;
  /** Only those of one workspace. */
  readonly workspaceId?: string;
  /** What they spend is handed over to nobody. */
  readonly keepsSpend?: boolean;
}

/**
 * What becomes of the keys that somebody made, or that make their calls, and that they can manage no more: they are neither an administrator nor a member where
 * the key is. Called once their rights are what they will be. A key that the config file declares is the file's.
 */
export async function settleKeys(under: AuditedWrite, left: KeysLeft): Promise<void> {
  const { transaction } = under;
  const keys = await keysLeft(transaction, left);
  if (keys.length === 0) return;
  if (left.keys === null) throw undecided(left, keys);
  if (left.keys === "revoke") {
    await change(under, keys, "revoke", () => ({ revoked_at: under.at, old_digest: null, old_until: null }));
  } else if (left.keys === "disable") {
    await change(under, keys, "update", () => ({ enabled: 0, set_by_admins: everyBound }));
  } else {
    const to = left.keys.hand_over_to;
    if (left.keepsSpend === true) refuseSpend(left, keys);
    for (const workspaceId of new Set(keys.map((key) => key.workspace_id))) {
      if (!(await mayHoldKeys(transaction, workspaceId, to))) throw noHeir(keys, workspaceId);
    }
    // Whoever takes them over narrows what was set by somebody else, and does not widen it.
    await change(under, keys, "update", (key) => ({
      ...(key.created_by === left.leaver.id ? { created_by: to } : {}),
      ...(key.owner_id === left.leaver.id ? { owner_id: to } : {}),
      set_by_admins: everyBound,
    }));
  }
}

/** Whether somebody may manage keys of their own in a workspace now. */
export async function mayHoldKeys(connection: Connection, workspaceId: string, userId: string): Promise<boolean> {
  const row = await connection
    .selectFrom("auth_users")
    .leftJoin("members", (join) =>
      join.onRef("members.user_id", "=", "auth_users.id").on("members.workspace_id", "=", workspaceId),
    )
    .innerJoin("workspaces", (join) => join.on("workspaces.id", "=", workspaceId))
    .select(["auth_users.administrator", "members.role"])
    .where("auth_users.id", "=", userId)
    .where("workspaces.managed_by", "!=", "suspended")
    .where("auth_users.disabled", "=", 0)
    .executeTakeFirst();
  return row !== undefined && (row.administrator === 1 || (row.role !== null && row.role !== "viewer"));
}

async function keysLeft(connection: Connection, { leaver, workspaceId }: KeysLeft): Promise<readonly NamedKeyRow[]> {
  let query = namedKeys(connection)
    .where((eb) => eb.or([eb("api_keys.created_by", "=", leaver.id), eb("api_keys.owner_id", "=", leaver.id)]))
    .where("api_keys.revoked_at", "is", null)
    .where("api_keys.managed_by", "=", "console")
    .where("api_keys.person_id", "is", null)
    .orderBy("workspaces.slug")
    .orderBy("api_keys.name");
  if (workspaceId !== undefined) query = query.where("api_keys.workspace_id", "=", workspaceId);
  const keys = await query.execute();
  const rights = await connection
    .selectFrom("auth_users")
    .leftJoin("members", "members.user_id", "auth_users.id")
    .select(["auth_users.administrator", "auth_users.disabled", "members.workspace_id"])
    .where("auth_users.id", "=", leaver.id)
    .execute();
  if (rights.some((row) => row.disabled === 1)) return keys;
  if (rights.some((row) => row.administrator === 1)) return [];
  const places = new Set(rights.map((row) => row.workspace_id));
  return keys.filter((key) => !places.has(key.workspace_id));
}

async function change(
  under: AuditedWrite,
  keys: readonly NamedKeyRow[],
  action: "revoke" | "update",
  columns: (key: KeyRow) => Partial<KeyRow>,
): Promise<void> {
  const object = keyObject(new Map(keys.map((key) => [key.workspace_id, key.workspace_slug])));
  for (const { workspace_slug: _slug, group_name: _group, ...before } of keys) {
    await updateRow(under, object, { before, after: { ...before, ...columns(before) }, action });
  }
}

const namedMax = 5;

function undecided({ leaver }: KeysLeft, keys: readonly NamedKeyRow[]): Failure {
  const named = keys.slice(0, namedMax).map((key) => `${key.workspace_slug}/${key.name}`);
  const more = keys.length > namedMax ? ` and ${keys.length - namedMax} more` : "";
  const made = keys.length === 1 ? "an API key that is" : `${keys.length} API keys that are`;
  return new Failure(
    "missing_required_parameter",
    `${leaver.email} made ${made} not revoked: ${named.join(", ")}${more}. ` +
      'Say what becomes of them: `"keys": "revoke"`, `"disable"`, or `{"hand_over_to": "<user id>"}`.',
    { param: "keys" },
  );
}

function refuseSpend({ leaver }: KeysLeft, keys: readonly NamedKeyRow[]): void {
  const own = keys.find((key) => key.owner_id === leaver.id);
  if (own === undefined) return;
  throw new Failure(
    "forbidden",
    `The calls of ${own.workspace_slug}/${own.name} are yours, and so is what they cost: an admin of the workspace hands it over.`,
    { param: "keys.hand_over_to" },
  );
}

function noHeir(keys: readonly NamedKeyRow[], workspaceId: string): Failure {
  const slug = keys.find((key) => key.workspace_id === workspaceId)?.workspace_slug ?? workspaceId;
  return new Failure(
    "invalid_request",
    `Keys of ${slug} are handed over to somebody who makes keys there, or to an administrator, and who is not disabled.`,
    { param: "keys.hand_over_to" },
  );
}

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
  { createdBy, owner }: { readonly createdBy: string | null; readonly owner?: string | null | undefined },
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
  const member = { workspace_id: workspaceId, user_id: userId, role: "member" } as const;
  const plain = { id: userId, administrator: 0 };
  return (
    (await findRow(connection, "members", member)) !== undefined &&
    (await findRow(connection, "auth_users", plain)) !== undefined
  );
}
