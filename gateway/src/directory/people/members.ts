import type { LeaverKeys, Member } from "@sluice/contract/console";
import type { WorkspaceRole } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { endAgents } from "../agents/agent-persons.ts";
import { rank, setByHand } from "../rights/given-rows.ts";
import { deleteRows, findRow, findRows, putRow } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { refuseFilePeople } from "./file-people.ts";
import { settleKeys } from "./key-owners.ts";
import { endSessions, personOf, slugOf, userRow } from "./people-rows.ts";
import { limitPerson, type PersonLimitChange, shownLimits } from "./person-limits.ts";

/** A field that is left out does not change. */
export interface MemberChange extends PersonLimitChange {
  readonly role?: WorkspaceRole | undefined;
  /** Asked within the write, of what they hold by then; null: nothing. What it throws undoes all of it. */
  readonly allow?: (held: WorkspaceRole | null) => void;
}

/** By address. */
export async function listMembers({ database }: Directory, workspaceId: string): Promise<readonly Member[]> {
  const rows = await memberRows(database.kysely, workspaceId).orderBy("auth_users.email").execute();
  return rows.map(memberOf);
}

/**
 * Gives a user a role in a workspace, and sets what limits them there. Throws `not_found` for who is no member and gets no role, and
 * `conflict` for the last owner who would be owner no more. A higher role ends the user's sessions, so that a stolen session
 * never gains rights.
 */
export async function updateMember(
  under: Write,
  workspaceId: string,
  userId: string,
  { role, allow, ...limits }: MemberChange,
): Promise<Member> {
  allow?.(await roleOf(under.transaction, workspaceId, userId));
  const email = await refuseFileUser(under, userId);
  if (role !== undefined) {
    await setByHand(under.transaction, { userId, workspaceId, role, email });
    if (role !== "owner") await refuseOwnerless(under.transaction, workspaceId, userId);
    await putMember(under, { workspaceId, userId, role, keptSession: null });
    await endAgents(under, { userId });
  }
  await limitPerson(under, workspaceId, userId, limits);
  const row = await memberRows(under.transaction, workspaceId).where("auth_users.id", "=", userId).executeTakeFirst();
  if (row === undefined) throw noMember();
  return memberOf(row);
}

interface Membership {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: WorkspaceRole;
  /** The session that goes on when their rights rise. */
  readonly keptSession: string | null;
}

/** Writes the role, and the audit row when it is another than before. */
export async function putMember(
  { transaction, log, at }: AuditedWrite,
  { workspaceId, userId, role, keptSession }: Membership,
): Promise<void> {
  const before = await roleOf(transaction, workspaceId, userId);
  if (before === role) return;
  const slug = await slugOf(transaction, workspaceId);
  const user = await userRow(transaction, userId);
  const key = { workspace_id: workspaceId, user_id: userId };
  await putRow(transaction, "members", key, { role }, { since: at });
  // An administrator had every role before.
  if (user.administrator === 0 && rank(role) > rank(before)) await endSessions(transaction, userId, keptSession);
  const view = (held: WorkspaceRole | null) =>
    held === null ? null : { user_id: userId, email: user.email, role: held };
  log.change(`member ${slug}/${user.email}`, view(before), view(role), workspaceId);
}

interface Leaving {
  readonly workspaceId: string;
  readonly userId: string;
  /** As in `removeUser`. */
  readonly keys: LeaverKeys | null;
  /** Keys whose calls are theirs become nobody else's: only who manages people puts somebody's spend on another. */
  readonly keepsSpend?: boolean;
}

/**
 * Removes a member with the admin tokens that they made for this workspace. Throws `not_found` if they are no member, `conflict`
 * for the last owner. `allow` is asked within the write, of what they hold by then.
 */
export async function removeMember(
  under: Write,
  workspaceId: string,
  userId: string,
  { allow, ...leaving }: Pick<Leaving, "keys" | "keepsSpend"> & { readonly allow?: (held: WorkspaceRole) => void },
): Promise<void> {
  const held = await roleOf(under.transaction, workspaceId, userId);
  if (held === null) throw noMember();
  allow?.(held);
  const email = await refuseFileUser(under, userId);
  await setByHand(under.transaction, { userId, workspaceId, role: null, email });
  await dropMember(under, { workspaceId, userId, ...leaving });
}

/** The config file says of its users what they hold anywhere. Gives the address of others. */
async function refuseFileUser({ transaction }: AuditedWrite, userId: string): Promise<string> {
  const { email } = await userRow(transaction, userId);
  await refuseFilePeople(transaction, "users", userId, `user ${email}`);
  return email;
}

/** The removal itself, whoever makes it. */
export async function dropMember(
  under: AuditedWrite,
  { workspaceId, userId, keys, keepsSpend = false }: Leaving,
): Promise<void> {
  const { transaction, log } = under;
  const role = await roleOf(transaction, workspaceId, userId);
  if (role === null) throw noMember();
  await refuseOwnerless(transaction, workspaceId, userId);
  const slug = await slugOf(transaction, workspaceId);
  const leaver = await userRow(transaction, userId);
  const { email } = leaver;
  const here = { workspace_id: workspaceId };
  await deleteRows(transaction, "members", { ...here, user_id: userId });
  // They hold nothing any more; without this they would hold again should their maker come back.
  const tokens = await findRows(transaction, "admin_tokens", { ...here, owner_id: userId }, "name");
  await deleteRows(transaction, "admin_tokens", { ...here, owner_id: userId });
  await deleteRows(transaction, "invitations", { ...here, invited_by: userId });
  // One to them that they did not open yet would bring them back.
  await deleteRows(transaction, "invitations", { ...here, email });
  await settleKeys(under, { leaver, keys, workspaceId, keepsSpend });
  await endAgents(under, { userId });
  const view = { user_id: userId, email, role, tokens: tokens.map((token) => token.name) };
  log.record("remove", `member ${slug}/${email}`, view, null, workspaceId);
}

function noMember(): Failure {
  return new Failure("not_found", "There is no such member in this workspace.", { param: "user" });
}

export async function roleOf(
  connection: Connection,
  workspaceId: string,
  userId: string,
): Promise<WorkspaceRole | null> {
  const row = await findRow(connection, "members", { workspace_id: workspaceId, user_id: userId });
  return row?.role ?? null;
}

/** Throws `conflict` when this user is the only owner of the workspace who can sign in. */
export async function refuseOwnerless(connection: Connection, workspaceId: string, userId: string): Promise<void> {
  if ((await roleOf(connection, workspaceId, userId)) !== "owner") return;
  const other = await memberRows(connection, workspaceId)
    .where("members.role", "=", "owner")
    .where("auth_users.id", "!=", userId)
    .where("auth_users.disabled", "=", 0)
    .executeTakeFirst();
  if (other !== undefined) return;
  const slug = await slugOf(connection, workspaceId);
  throw new Failure("conflict", `This is the last owner of the workspace ${slug}. Make somebody else an owner first.`);
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
  return { ...personOf(row), role, since, disabled: disabled === 1, ...shownLimits(row) };
}
