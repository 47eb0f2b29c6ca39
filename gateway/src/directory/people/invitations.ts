import type { Invitation } from "@sluice/contract/console";
import type { AuditObject } from "@sluice/contract/words";
import { bounds, columnsOf, Failure, type Grant, type Rights } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";
import { addManualRole, rank } from "../rights/right-rows.ts";
import { deleteRows, findRow, findRows } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { roleOf, upsertMember } from "./members.ts";
import { insertUser, makeAdministrator, type NewUser } from "./new-users.ts";
import { grantColumns, grantOf, grantPlace } from "./people-rows.ts";
import { rightsOf } from "./tokens.ts";

interface NewInvitation {
  readonly email: string;
  readonly grant: Grant;
  readonly invitedBy: string;
  /** Digest of the secret in the link. */
  readonly digest: string;
  readonly expiresAt: number;
}

/** Open invitations, newest first. `workspaceId` null: invitations to become an administrator. */
export async function listInvitations(
  { database, clock }: Directory,
  workspaceId: string | null,
): Promise<readonly Invitation[]> {
  const rows = await invitationRows(database.kysely, clock.now())
    .where("invitations.workspace_id", workspaceId === null ? "is" : "=", workspaceId)
    .orderBy("invitations.created_at", "desc")
    .orderBy("invitations.id", "desc")
    .execute();
  return rows.map(invitationOf);
}

export async function oneInvitation(
  { database, clock }: Directory,
  by: "id" | "digest",
  value: string,
): Promise<Invitation | null> {
  const rows = invitationRows(database.kysely, clock.now());
  const row = await rows.where(`invitations.${by}`, "=", value).executeTakeFirst();
  return row === undefined ? null : invitationOf(row);
}

/** Replaces an open invitation of the same address to the same workspace. */
export async function invite(context: Write, invitation: NewInvitation): Promise<Invitation> {
  const { transaction, log, at } = context;
  await transaction.deleteFrom("invitations").where("expires_at", "<=", at).execute();
  const email = invitation.email.toLowerCase();
  const columns = grantColumns(invitation.grant);
  const label = await labelOf(transaction, invitation.grant, email);
  const open = await findRows(transaction, "invitations", { workspace_id: columns.workspace_id });
  const before = open.find((other) => other.email === email);
  if (before !== undefined) await deleteRows(transaction, "invitations", { id: before.id });
  else if (open.length >= bounds.invitationsOpenMax) {
    throw new Failure(
      "conflict",
      `There are ${open.length} open invitations, which is the maximum. Revoke some, or wait until they expire.`,
    );
  }
  const { grant: _grant, ...fields } = invitation;
  const row = { id: context.ids.next("inv_"), ...columnsOf(fields), email, ...columns, created_at: at };
  await transaction.insertInto("invitations").values(row).execute();
  const replaced = before === undefined ? null : invitationView(before);
  log.change(label, replaced, invitationView(row), columns.workspace_id);
  return invitationOf(
    await invitationRows(transaction, at).where("invitations.id", "=", row.id).executeTakeFirstOrThrow(),
  );
}

interface Acceptance {
  /** An existing user, or a new one with the address of the invitation. */
  readonly user: { readonly id: string } | Pick<NewUser, "name" | "passwordHash">;
  /** The session that accepts. */
  readonly sessionId: string | null;
  readonly mayInvite: (inviter: Rights, grant: Grant) => boolean;
}

/**
 * Grants the user the rights of the invitation, and deletes it. The user never loses a higher role. false: the invitation was used or
 * revoked, or its inviter may no longer grant these rights. Ends the sessions of a user who gains rights: all for an administrator,
 * otherwise all but the one that accepts.
 */
export async function acceptInvitation(
  context: Write,
  id: string,
  { user, sessionId, mayInvite }: Acceptance,
): Promise<boolean> {
  const { transaction, log, at } = context;
  const open = await findRow(transaction, "invitations", { id });
  if (open === undefined || open.expires_at <= at) return false;
  const grant = grantOf(open);
  // The inviter may have lost their rights since the handler checked them.
  const inviter = await rightsOf(transaction, open.invited_by);
  if (inviter === null || !mayInvite(inviter, grant)) return false;
  const userId = "id" in user ? user.id : await insertUser(context, { ...user, email: open.email, grants: [] });
  await deleteRows(transaction, "invitations", { id });
  log.record("remove", await labelOf(transaction, grant, open.email), invitationView(open), null, open.workspace_id);
  if (grant.administrator) await makeAdministrator(context, userId);
  else {
    const held = await roleOf(transaction, grant.workspaceId, userId);
    const higher = held !== null && rank(held) > rank(grant.role) ? held : grant.role;
    await addManualRole(transaction, { userId, workspaceId: grant.workspaceId, role: grant.role });
    await upsertMember(context, { workspaceId: grant.workspaceId, userId, role: higher, sessionToKeep: sessionId });
  }
  return true;
}

export async function revokeInvitation({ transaction, log }: Write, id: string): Promise<void> {
  const open = await findRow(transaction, "invitations", { id });
  if (open === undefined) return;
  await deleteRows(transaction, "invitations", { id });
  const label = await labelOf(transaction, grantOf(open), open.email);
  log.record("revoke", label, invitationView(open), null, open.workspace_id);
}

async function labelOf(connection: Connection, grant: Grant, email: string): Promise<AuditObject> {
  return `invitation ${await grantPlace(connection, grant)}/${email}`;
}

function invitationView(row: Pick<Row<"invitations">, "id" | "email" | "administrator" | "role" | "expires_at">) {
  const { id, email, role, expires_at } = row;
  return { id, email, administrator: row.administrator === 1, role, expires_at };
}

function invitationRows(connection: Connection, now: number) {
  return connection
    .selectFrom("invitations")
    .innerJoin("auth_users as inviter", "inviter.id", "invitations.invited_by")
    .leftJoin("workspaces", "workspaces.id", "invitations.workspace_id")
    .selectAll("invitations")
    .select(["inviter.email as inviter_email", "inviter.name as inviter_name"])
    .select(["workspaces.slug", "workspaces.name as workspace_name"])
    .where("invitations.expires_at", ">", now);
}

function invitationOf(
  row: Awaited<ReturnType<ReturnType<typeof invitationRows>["executeTakeFirstOrThrow"]>>,
): Invitation {
  const { workspace_id: id, slug, workspace_name: name } = row;
  return {
    ...invitationView(row),
    workspace: id === null ? null : { id, slug: slug ?? "", name: name ?? "" },
    invited_by: { id: row.invited_by, email: row.inviter_email, name: row.inviter_name },
    created_at: row.created_at,
  };
}
