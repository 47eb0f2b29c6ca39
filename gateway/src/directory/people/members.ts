import type { LeaverKeys, Member } from "@sluice/contract/console";
import type { WorkspaceRole } from "@sluice/contract/words";
import { orNotFound } from "#core/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { type Problem, refuseProblems } from "../refusals.ts";
import { rank, setManualRole } from "../rights/right-rows.ts";
import { deleteRows, findRow, findRows, putRow } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { refuseFilePeople } from "./file-people.ts";
import { applyLeaverDecision } from "./key-owners.ts";
import { endLostAccess } from "./lost-access.ts";
import { endSessions, personOf, slugOf, userRow } from "./people-rows.ts";
import { type PersonLimitChange, personLimitsView, setPersonLimits } from "./person-limits.ts";

/** A field that is left out does not change. */
export interface MemberChange extends PersonLimitChange {
  readonly role?: WorkspaceRole | undefined;
  /** Called in the transaction with the current role. If it throws, nothing changes. */
  readonly allow?: (held: WorkspaceRole | null) => void;
}

/** Ordered by address. */
export async function listMembers({ database }: Directory, workspaceId: string): Promise<readonly Member[]> {
  const rows = await memberRows(database.kysely, workspaceId).orderBy("auth_users.email").execute();
  return rows.map(memberOf);
}

/**
 * Sets the role and the limits of a user in a workspace. Throws `not_found` for a user who is not a member and gets no role, and
 * `conflict` if no owner would remain. A higher role ends the user's sessions, so that a stolen session never gains rights.
 */
export async function updateMember(
  context: Write,
  workspaceId: string,
  userId: string,
  { role, allow, ...limits }: MemberChange,
): Promise<Member> {
  allow?.(await roleOf(context.transaction, workspaceId, userId));
  const email = await refuseFileUser(context, userId);
  if (role !== undefined) {
    await setManualRole(context.transaction, { userId, workspaceId, role, email });
    if (role !== "owner") refuseProblems(await lastOwnerProblems(context.transaction, workspaceId, userId));
    await upsertMember(context, { workspaceId, userId, role, sessionToKeep: null });
    await endLostAccess(context, { userId });
  }
  await setPersonLimits(context, workspaceId, userId, limits);
  const row = await memberRows(context.transaction, workspaceId).where("auth_users.id", "=", userId).executeTakeFirst();
  return memberOf(orNotFound(row, ...member));
}

const member = ["member in this workspace", "user"] as const;

interface Membership {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: WorkspaceRole;
  /** A session that does not end when their rights grow. */
  readonly sessionToKeep: string | null;
}

export async function upsertMember(
  { transaction, log, at }: AuditedWrite,
  { workspaceId, userId, role, sessionToKeep }: Membership,
): Promise<void> {
  const before = await roleOf(transaction, workspaceId, userId);
  if (before === role) return;
  const slug = await slugOf(transaction, workspaceId);
  const user = await userRow(transaction, userId);
  const key = { workspace_id: workspaceId, user_id: userId };
  await putRow(transaction, "members", key, { role }, { since: at });
  // An administrator already had the rights of every role.
  if (user.administrator === 0 && rank(role) > rank(before)) await endSessions(transaction, userId, sessionToKeep);
  const view = (held: WorkspaceRole | null) =>
    held === null ? null : { user_id: userId, email: user.email, role: held };
  log.change(`member ${slug}/${user.email}`, view(before), view(role), workspaceId);
}

interface Leaving {
  readonly workspaceId: string;
  readonly userId: string;
  /** As in `removeUser`. */
  readonly keys: LeaverKeys | null;
  /** As in `applyLeaverDecision`. */
  readonly refusesSpendTransfer?: boolean;
}

/**
 * Removes a member with the admin tokens that they created for this workspace. Throws `not_found` if they are not a member, `conflict`
 * for the last owner. `allow` is called in the transaction with their current role.
 */
export async function removeMember(
  context: Write,
  workspaceId: string,
  userId: string,
  {
    allow,
    ...leaving
  }: Pick<Leaving, "keys" | "refusesSpendTransfer"> & { readonly allow?: (held: WorkspaceRole) => void },
): Promise<void> {
  const held = orNotFound(await roleOf(context.transaction, workspaceId, userId), ...member);
  allow?.(held);
  const email = await refuseFileUser(context, userId);
  await setManualRole(context.transaction, { userId, workspaceId, role: null, email });
  await deleteMember(context, { workspaceId, userId, ...leaving });
}

/** Throws for users of the config file, which declares all their roles. Returns the address of other users. */
async function refuseFileUser({ transaction }: AuditedWrite, userId: string): Promise<string> {
  const { email } = await userRow(transaction, userId);
  await refuseFilePeople(transaction, "users", userId, `user ${email}`);
  return email;
}

export async function deleteMember(
  context: AuditedWrite,
  { workspaceId, userId, keys, refusesSpendTransfer = false }: Leaving,
): Promise<void> {
  const { transaction, log } = context;
  const role = orNotFound(await roleOf(transaction, workspaceId, userId), ...member);
  refuseProblems(await lastOwnerProblems(transaction, workspaceId, userId));
  const slug = await slugOf(transaction, workspaceId);
  const leaver = await userRow(transaction, userId);
  const { email } = leaver;
  const here = { workspace_id: workspaceId };
  await deleteRows(transaction, "members", { ...here, user_id: userId });
  // Tokens and invitations would work again if the member came back; an unused invitation would bring them back.
  const tokens = await findRows(transaction, "admin_tokens", { ...here, owner_id: userId }, "name");
  await deleteRows(transaction, "admin_tokens", { ...here, owner_id: userId });
  await deleteRows(transaction, "invitations", { ...here, invited_by: userId });
  await deleteRows(transaction, "invitations", { ...here, email });
  await applyLeaverDecision(context, { leaver, keys, workspaceId, refusesSpendTransfer });
  await endLostAccess(context, { userId });
  const view = { user_id: userId, email, role, tokens: tokens.map((token) => token.name) };
  log.record("remove", `member ${slug}/${email}`, view, null, workspaceId);
}

export async function roleOf(
  connection: Connection,
  workspaceId: string,
  userId: string,
): Promise<WorkspaceRole | null> {
  const row = await findRow(connection, "members", { workspace_id: workspaceId, user_id: userId });
  return row?.role ?? null;
}

/** A problem if this user is the only owner of the workspace who can sign in. */
export async function lastOwnerProblems(
  connection: Connection,
  workspaceId: string,
  userId: string,
): Promise<readonly Problem[]> {
  if ((await roleOf(connection, workspaceId, userId)) !== "owner") return [];
  const other = await memberRows(connection, workspaceId)
    .where("members.role", "=", "owner")
    .where("auth_users.id", "!=", userId)
    .where("auth_users.disabled", "=", 0)
    .executeTakeFirst();
  if (other !== undefined) return [];
  const slug = await slugOf(connection, workspaceId);
  const message = `This is the last owner of the workspace ${slug}. Make another member an owner first.`;
  return [{ path: [], message, code: "conflict" }];
}

function memberRows(connection: Connection, workspaceId: string) {
  return connection
    .selectFrom("members")
    .innerJoin("auth_users", "auth_users.id", "members.user_id")
    .leftJoin("person_limits", (join) =>
      join
        .onRef("person_limits.workspace_id", "=", "members.workspace_id")
        .onRef("person_limits.user_id", "=", "members.user_id"),
    )
    .select(["auth_users.id", "auth_users.email", "auth_users.name", "auth_users.disabled"])
    .select(["members.role", "members.since", "person_limits.limits", "person_limits.budget"])
    .where("members.workspace_id", "=", workspaceId);
}

function memberOf(row: Awaited<ReturnType<ReturnType<typeof memberRows>["executeTakeFirstOrThrow"]>>): Member {
  const { role, since, disabled } = row;
  return { ...personOf(row), role, since, disabled: disabled === 1, ...personLimitsView(row) };
}
