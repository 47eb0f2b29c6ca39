import type { LeaverKeyAction, LeaverKeys } from "@sluice/contract/console";
import type { WorkspaceRole } from "@sluice/contract/words";
import { Failure, invalidRequest } from "#core/index.ts";
import {
  type AuditedWrite,
  type Connection,
  everyBound,
  type KeyRow,
  keyIsOfLeaver,
  type NamedKeyRow,
  namedKeys,
  updateRow,
} from "#storage/tables.ts";
import { keyObject } from "../keys/key-rules.ts";
import { shortList } from "../refusals.ts";
import { findRow } from "../rows.ts";
import type { UserRow } from "./people-rows.ts";
import { hasPersonLimits } from "./person-limits.ts";

interface LeaverDecision {
  readonly leaver: Pick<UserRow, "id" | "email">;
  /** null: not decided. */
  readonly keys: LeaverKeys | null;
  /** Only keys of this workspace. */
  readonly workspaceId?: string;
  /** Refuses to hand over keys that count against the limits of the leaver. */
  readonly refusesSpendTransfer?: boolean;
}

/**
 * Revokes, disables or hands over the keys that a user created or owns and can no longer manage. Call it after their rights have
 * changed. Keys of the config file do not change. Throws `missing_required_parameter` when nothing was decided, and `conflict` when a
 * list of decisions does not name exactly these keys.
 */
export async function applyLeaverDecision(context: AuditedWrite, left: LeaverDecision): Promise<void> {
  const { transaction } = context;
  const keys = await orphanedKeys(transaction, left);
  if (Array.isArray(left.keys)) {
    for (const { action, keys: some } of decisionsByKey(left, left.keys, keys)) await act(context, left, some, action);
  } else if (keys.length > 0) {
    if (left.keys === null) throw decisionRequired(left, keys);
    await act(context, left, keys, left.keys);
  }
}

async function act(
  context: AuditedWrite,
  { leaver, refusesSpendTransfer = false }: LeaverDecision,
  keys: readonly NamedKeyRow[],
  action: LeaverKeyAction,
): Promise<void> {
  if (action === "revoke") {
    await change(context, keys, "revoke", () => ({ revoked_at: context.at, old_digest: null, old_until: null }));
  } else if (action === "disable") {
    await change(context, keys, "update", () => ({ enabled: 0, set_by_admins: everyBound }));
  } else {
    const to = action.hand_over_to;
    if (refusesSpendTransfer) refuseTransferOfSpend(leaver, keys);
    for (const workspaceId of new Set(keys.map((key) => key.workspace_id))) {
      if (!(await canManageKeys(context.transaction, workspaceId, to))) throw invalidNewOwner(keys, workspaceId);
    }
    await change(context, keys, "update", (key) => ({
      ...(key.created_by === leaver.id ? { created_by: to } : {}),
      ...(key.owner_id === leaver.id ? { owner_id: to } : {}),
      set_by_admins: everyBound,
    }));
  }
}

type KeyDecisions = Extract<LeaverKeys, readonly unknown[]>;

/** The rows of each decision. Throws `conflict` if the decisions name other keys than `keys`, or one twice. */
function decisionsByKey({ leaver }: LeaverDecision, decisions: KeyDecisions, keys: readonly NamedKeyRow[]) {
  const named = decisions.flatMap((decision) => decision.keys);
  const rows = new Map(keys.map((key) => [key.id, key]));
  const missing = keys.filter(({ id }) => !named.includes(id));
  if (missing.length > 0) {
    const text = `${leaver.email} created or owns keys that \`keys\` does not name: ${namesOf(missing)}. Nothing was changed.`;
    throw new Failure("conflict", text, { param: "keys" });
  }
  const other = named.filter((id, place) => !rows.has(id) || named.indexOf(id) !== place);
  if (other.length > 0) {
    const text = `\`keys\` names keys twice, or keys that need no decision: ${shortList(other)}. Nothing was changed.`;
    throw new Failure("conflict", text, { param: "keys" });
  }
  return decisions.map(({ action, keys: ids }) => ({ action, keys: ids.flatMap((id) => rows.get(id) ?? []) }));
}

function namesOf(keys: readonly NamedKeyRow[]): string {
  return shortList(keys.map((key) => `${key.workspace_slug}/${key.name}`));
}

/** Whether a user may manage their own keys in a workspace now. */
export async function canManageKeys(connection: Connection, workspaceId: string, userId: string): Promise<boolean> {
  const role = await activeRole(connection, workspaceId, userId);
  return role !== null && role !== "viewer";
}

/** Whether a user may own a key that an admin grants them: any active member, also a viewer. */
export async function mayOwnKeys(connection: Connection, workspaceId: string, userId: string): Promise<boolean> {
  return (await activeRole(connection, workspaceId, userId)) !== null;
}

/** null: not a member, disabled, or the workspace is suspended. */
async function activeRole(
  connection: Connection,
  workspaceId: string,
  userId: string,
): Promise<WorkspaceRole | "administrator" | null> {
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
  return row?.administrator === 1 ? "administrator" : (row?.role ?? null);
}

async function orphanedKeys(
  connection: Connection,
  { leaver, workspaceId }: LeaverDecision,
): Promise<readonly NamedKeyRow[]> {
  let query = namedKeys(connection).where(keyIsOfLeaver(leaver.id)).orderBy("workspaces.slug").orderBy("api_keys.name");
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
  context: AuditedWrite,
  keys: readonly NamedKeyRow[],
  action: "revoke" | "update",
  columns: (key: KeyRow) => Partial<KeyRow>,
): Promise<void> {
  const object = keyObject(new Map(keys.map((key) => [key.workspace_id, key.workspace_slug])));
  for (const { workspace_slug: _slug, group_name: _group, ...before } of keys) {
    await updateRow(context, object, { before, after: { ...before, ...columns(before) }, action });
  }
}

function decisionRequired({ leaver }: LeaverDecision, keys: readonly NamedKeyRow[]): Failure {
  const count = keys.length === 1 ? "an API key" : `${keys.length} API keys`;
  return new Failure(
    "missing_required_parameter",
    `${leaver.email} created or owns ${count} in use: ${namesOf(keys)}. ` +
      'Set `keys` to "revoke", "disable" or {"hand_over_to": "<user id>"}, or decide about each key in a list.',
    { param: "keys" },
  );
}

function refuseTransferOfSpend(leaver: LeaverDecision["leaver"], keys: readonly NamedKeyRow[]): void {
  const own = keys.find((key) => key.owner_id === leaver.id);
  if (own === undefined) return;
  throw new Failure(
    "forbidden",
    `The key ${own.workspace_slug}/${own.name} counts against your limits. Only an admin of the workspace can hand it over.`,
    { param: "keys.hand_over_to" },
  );
}

function invalidNewOwner(keys: readonly NamedKeyRow[], workspaceId: string): Failure {
  const slug = keys.find((key) => key.workspace_id === workspaceId)?.workspace_slug ?? workspaceId;
  return invalidRequest(
    "keys.hand_over_to",
    `Keys of ${slug} can only be handed over to an enabled user who can create keys there.`,
  );
}

/** Throws for a user who cannot own the key. */
export async function checkKeyOwner(
  connection: Connection,
  workspaceId: string,
  owner: string | null | undefined,
  row: Pick<KeyRow, "service"> & Partial<KeyRow>,
): Promise<void> {
  if (owner === undefined || owner === null) return;
  if (row.service === 1) {
    throw invalidRequest("owner", "A service token cannot have an owner.");
  }
  if (row.person_id != null) {
    throw new Failure("conflict", `The key ${row.name} belongs to agent sign-ins; its owner cannot change.`);
  }
  if (await canManageKeys(connection, workspaceId, owner)) return;
  throw invalidRequest("owner", "`owner` must be an enabled user who can create keys in this workspace.");
}

/**
 * The user whose limits apply to a new key. A member with personal limits can only create keys that count against these limits: any
 * other key would bypass them.
 */
export async function ownerOfNewKey(
  connection: Connection,
  workspaceId: string,
  { createdBy, owner }: { readonly createdBy: string | null; readonly owner?: string | null | undefined },
): Promise<string | null> {
  if (createdBy === null || (owner ?? null) !== null) return owner ?? null;
  const isLimited =
    (await isPlainMember(connection, workspaceId, createdBy)) &&
    (await hasPersonLimits(connection, workspaceId, createdBy));
  if (!isLimited) return null;
  if (owner === undefined) return createdBy;
  const message = "You have limits in this workspace, so you must be the owner of keys that you create.";
  throw new Failure("forbidden", message, { param: "owner" });
}

async function isPlainMember(connection: Connection, workspaceId: string, userId: string): Promise<boolean> {
  const member = { workspace_id: workspaceId, user_id: userId, role: "member" } as const;
  const plain = { id: userId, administrator: 0 };
  return (
    (await findRow(connection, "members", member)) !== undefined &&
    (await findRow(connection, "auth_users", plain)) !== undefined
  );
}
