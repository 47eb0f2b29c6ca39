import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import { type Actor, Failure, type Grant, type Rights, roleIn } from "#core/index.ts";

/** Nobody gives more than they hold. Throws `forbidden`. */
export function checkGrant(granter: Rights, grant: Grant): void {
  if (grant.administrator) {
    if (!granter.administrator) throw new Failure("forbidden", "Only administrators can create administrators.");
    return;
  }
  const held = roleIn(granter, grant.workspaceId);
  if (reaches(held, grant.role)) return;
  const own = held === null ? "nothing in this workspace" : `${held} yourself`;
  throw new Failure("forbidden", `You cannot give the role ${grant.role}: your role is ${own}.`, { param: "role" });
}

/** Whether what somebody holds now covers a grant: what they gave out, or would give out, is theirs to give. */
export function covers(granter: Rights, grant: Grant): boolean {
  return grant.administrator ? granter.administrator : reaches(roleIn(granter, grant.workspaceId), grant.role);
}

/** Whether somebody may invite to what a grant says: an administrator anywhere, an admin of a workspace up to their own role. */
export function mayInvite(granter: Rights, grant: Grant): boolean {
  return covers(granter, grant) && (grant.administrator || reaches(roleIn(granter, grant.workspaceId), "admin"));
}

/** A change of a member's role by somebody who may manage members: neither theirs nor the new one above one's own. */
export function checkRoleChange(
  actor: Actor,
  workspaceId: string,
  member: { readonly role: WorkspaceRole | null },
  role: WorkspaceRole,
): void {
  if (member.role !== null) checkNotAbove(actor, workspaceId, member.role);
  checkGrant(actor, { administrator: false, workspaceId, role });
}

/** Everybody may leave. Others are removed by an admin, and by none below them. A token leaves nothing for its maker. */
export function checkMemberRemoval(
  actor: Actor,
  workspaceId: string,
  member: { readonly id: string; readonly role: WorkspaceRole },
): void {
  if (actor.kind === "user" && actor.userId === member.id) return;
  if (!reaches(roleIn(actor, workspaceId), "admin")) {
    throw new Failure("forbidden", "Only workspace admins can remove other members.");
  }
  checkNotAbove(actor, workspaceId, member.role);
}

/** Invitations can be revoked by an admin who could have created them. */
export function checkInvitationRevoke(actor: Actor, grant: Grant): void {
  if (grant.administrator) {
    if (actor.administrator) return;
    throw noInvitation();
  }
  const held = roleIn(actor, grant.workspaceId);
  if (held === null) throw noInvitation();
  if (!reaches(held, "admin")) throw new Failure("forbidden", "This needs an admin of the workspace.");
  checkNotAbove(actor, grant.workspaceId, grant.role);
}

/** Tokens can be revoked by their creator and by administrators; by another token only if it could have created them. */
export function mayRevokeToken(
  actor: Actor,
  token: { readonly id: string; readonly ownerId: string; readonly grant: Grant },
): boolean {
  if (actor.administrator) return true;
  if (actor.userId !== token.ownerId) return false;
  return actor.kind === "user" || actor.tokenId === token.id || covers(actor, token.grant);
}

export function noInvitation(): Failure {
  return new Failure("not_found", "Invitation not found. It may have been accepted or revoked.", {
    param: "invitation",
  });
}

function checkNotAbove(actor: Actor, workspaceId: string, role: WorkspaceRole): void {
  if (reaches(roleIn(actor, workspaceId), role)) return;
  throw new Failure("forbidden", `You cannot change an ${role} of the workspace, whose role is above yours.`);
}

function reaches(held: WorkspaceRole | null, role: WorkspaceRole): boolean {
  return held !== null && workspaceRoles.indexOf(held) >= workspaceRoles.indexOf(role);
}
