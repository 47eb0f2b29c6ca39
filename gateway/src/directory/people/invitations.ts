import type { Invitation } from "@sluice/contract/console";
import { type AuditObject, workspaceRoles } from "@sluice/contract/words";
import { bounds, Failure, type Grant, type Rights } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import { addByHand } from "../rights/given-rows.ts";
import { makeAdministrator } from "./administrators.ts";
import { putMember, roleOf } from "./members.ts";
import { grantColumns, grantOf, grantPlace, type PeopleContext } from "./people-rows.ts";
import { rightsOf } from "./tokens.ts";

interface NewInvitation {
  readonly email: string;
  readonly grant: Grant;
  readonly invitedBy: string;
  /** Of the secret in the link. */
  readonly digest: string;
  readonly expiresAt: number;
}

/** Those still open, newest first. `workspaceId` null: of administrators. */
export async function listInvitations(
  { database, clock }: PeopleContext,
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
  connection: Connection,
  by: "id" | "digest",
  value: string,
  now: number,
): Promise<Invitation | null> {
  const row = await invitationRows(connection, now).where(`invitations.${by}`, "=", value).executeTakeFirst();
  return row === undefined ? null : invitationOf(row);
}

/** Replaces an open invitation for the same address and place. */
export async function invite(
  options: PeopleContext,
  invitation: NewInvitation,
  auditSource: AuditSource,
): Promise<Invitation> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log, at } = under;
    await transaction.deleteFrom("invitations").where("expires_at", "<=", at).execute();
    const email = invitation.email.toLowerCase();
    const columns = grantColumns(invitation.grant);
    const label = await labelOf(transaction, invitation.grant, email);
    const here = (query: ReturnType<typeof openAt>) =>
      query.where("workspace_id", columns.workspace_id === null ? "is" : "=", columns.workspace_id);
    const before = await here(openAt(transaction)).where("email", "=", email).executeTakeFirst();
    if (before === undefined) await refuseTooMany((await here(openAt(transaction)).execute()).length);
    else await transaction.deleteFrom("invitations").where("id", "=", before.id).execute();
    const row = {
      id: options.ids.next("inv_"),
      email,
      ...columns,
      digest: invitation.digest,
      invited_by: invitation.invitedBy,
      created_at: at,
      expires_at: invitation.expiresAt,
    };
    await transaction.insertInto("invitations").values(row).execute();
    log.record(
      before === undefined ? "create" : "update",
      label,
      before === undefined ? null : invitationView(before),
      invitationView(row),
      columns.workspace_id,
    );
    return invitationOf(
      await invitationRows(transaction, at).where("invitations.id", "=", row.id).executeTakeFirstOrThrow(),
    );
  });
}

interface Acceptance {
  readonly userId: string;
  readonly sessionId: string | null;
  readonly worth: (inviter: Rights, grant: Grant) => boolean;
}

/**
 * Gives the user what the invitation grants, and removes the invitation. The user never loses a higher role. false: the invitation
 * was used or removed before, or is `worth` nothing by what its maker holds by then. Ends the sessions of a user who gains
 * rights: all of them for an administrator, otherwise all but the one that accepts.
 */
export async function acceptInvitation(
  options: PeopleContext,
  id: string,
  { userId, sessionId, worth }: Acceptance,
  auditSource: AuditSource,
): Promise<boolean> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log, at } = under;
    const open = await openAt(transaction).where("id", "=", id).where("expires_at", ">", at).executeTakeFirst();
    if (open === undefined) return false;
    const grant = grantOf(open);
    // A password was hashed since the link was looked at; meanwhile its maker may have lost what they give here.
    const inviter = await rightsOf(transaction, open.invited_by);
    if (inviter === null || !worth(inviter, grant)) return false;
    await transaction.deleteFrom("invitations").where("id", "=", id).execute();
    log.record("remove", await labelOf(transaction, grant, open.email), invitationView(open), null, open.workspace_id);
    if (grant.administrator) await makeAdministrator(under, userId);
    else {
      const held = await roleOf(transaction, grant.workspaceId, userId);
      const higher =
        held !== null && workspaceRoles.indexOf(held) > workspaceRoles.indexOf(grant.role) ? held : grant.role;
      await addByHand(transaction, { userId, workspaceId: grant.workspaceId, role: grant.role });
      await putMember(under, { workspaceId: grant.workspaceId, userId, role: higher, keptSession: sessionId });
    }
    return true;
  });
}

export async function revokeInvitation(options: PeopleContext, id: string, auditSource: AuditSource): Promise<void> {
  await auditedWrite(options, auditSource, async ({ transaction, log }) => {
    const open = await openAt(transaction).where("id", "=", id).executeTakeFirst();
    if (open === undefined) return;
    await transaction.deleteFrom("invitations").where("id", "=", id).execute();
    log.record(
      "revoke",
      await labelOf(transaction, grantOf(open), open.email),
      invitationView(open),
      null,
      open.workspace_id,
    );
  });
}

function openAt(connection: Connection) {
  return connection
    .selectFrom("invitations")
    .select(["id", "email", "administrator", "workspace_id", "role", "expires_at", "invited_by"]);
}

type OpenInvitation = Awaited<ReturnType<ReturnType<typeof openAt>["executeTakeFirstOrThrow"]>>;

async function labelOf(connection: Connection, grant: Grant, email: string): Promise<AuditObject> {
  return `invitation ${await grantPlace(connection, grant)}/${email}`;
}

function invitationView(row: OpenInvitation) {
  return {
    id: row.id,
    email: row.email,
    administrator: row.administrator === 1,
    role: row.role,
    expires_at: Number(row.expires_at),
  };
}

function refuseTooMany(open: number): void {
  if (open < bounds.invitationsOpenMax) return;
  throw new Failure(
    "conflict",
    `There are ${open} open invitations here, the most there may be. Take some back, or wait for them to end.`,
  );
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
  return {
    id: row.id,
    email: row.email,
    administrator: row.administrator === 1,
    workspace:
      row.workspace_id === null ? null : { id: row.workspace_id, slug: row.slug ?? "", name: row.workspace_name ?? "" },
    role: row.role,
    invited_by: { id: row.invited_by, email: row.inviter_email, name: row.inviter_name },
    created_at: Number(row.created_at),
    expires_at: Number(row.expires_at),
  };
}
