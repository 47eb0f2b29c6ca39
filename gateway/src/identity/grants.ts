import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import { type Actor, Failure, type Grant, type Rights, roleIn } from "#core/index.ts";

/** Users can only grant rights that they have. Throws `forbidden`. */
export function checkGrant(granter: Rights, grant: Grant): void {
  if (grant.administrator) {
    if (!granter.administrator) throw new Failure("forbidden", "Only administrators can create administrators.");
    return;
  }
  const held = roleIn(granter, grant.workspaceId);
  if (reaches(held, grant.role)) return;
  const own = held === null ? "you have no role in this workspace" : `your own role is ${held}`;
  throw new Failure("forbidden", `You cannot grant the role ${grant.role}: ${own}.`, { param: "role" });
}

/** Whether the granter's current rights include the grant. */
export function covers(granter: Rights, grant: Grant): boolean {
  return grant.administrator ? granter.administrator : reaches(roleIn(granter, grant.workspaceId), grant.role);
}

/** Administrators may invite anywhere; admins of a workspace up to their own role. */
export function mayInvite(granter: Rights, grant: Grant): boolean {
  return covers(granter, grant) && (grant.administrator || reaches(roleIn(granter, grant.workspaceId), "admin"));
}

/** Neither the member's current role nor the new one may be above the actor's. */
export function checkRoleChange(
  actor: Actor,
  workspaceId: string,
  member: { readonly role: WorkspaceRole | null },
  role: WorkspaceRole,
): void {
  if (member.role !== null) checkNotAbove(actor, workspaceId, member.role);
  checkGrant(actor, { administrator: false, workspaceId, role });
}

/** Users may leave. Admins may remove others up to their own role. A token cannot remove its owner in the owner's name. */
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
    throw invitationNotFound();
  }
  const held = roleIn(actor, grant.workspaceId);
  if (held === null) throw invitationNotFound();
  if (!reaches(held, "admin")) throw new Failure("forbidden", "Only workspace admins can revoke invitations.");
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

export function invitationNotFound(): Failure {
  return new Failure("not_found", "Invitation not found. It may have been accepted or revoked.", {
    param: "invitation",
  });
}

function checkNotAbove(actor: Actor, workspaceId: string, role: WorkspaceRole): void {
  if (reaches(roleIn(actor, workspaceId), role)) return;
  throw new Failure("forbidden", `You cannot change this user: their role ${role} is above yours.`);
}

function reaches(held: WorkspaceRole | null, role: WorkspaceRole): boolean {
  return held !== null && workspaceRoles.indexOf(held) >= workspaceRoles.indexOf(role);
}
