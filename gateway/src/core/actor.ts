import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";

/**
 * Who takes a call of the admin API: a user with a session, or an admin token. What a token may do is the least of its
 * own grant and what its maker may do now.
 */
export interface Actor extends Rights {
  readonly kind: "user" | "token";
  /** Of the user; a token's maker. */
  readonly userId: string;
  /** Of the token. */
  readonly tokenId?: string;
  /** As audit rows name it: an e-mail address, with the token's name behind it. */
  readonly name: string;
  /** Signed in lately enough for what is dangerous; always true of a token. */
  readonly fresh: boolean;
}

export interface Rights {
  readonly administrator: boolean;
  /** By workspace id. */
  readonly roles: ReadonlyMap<string, WorkspaceRole>;
}

/** What an invitation or a token grants: the whole installation, or a role in one workspace. */
export type Grant =
  | { readonly administrator: true }
  | { readonly administrator: false; readonly workspaceId: string; readonly role: WorkspaceRole };

/** What somebody holds in a workspace; null: nothing. An administrator has every role everywhere. */
export function roleIn(rights: Rights, workspaceId: string): WorkspaceRole | null {
  return rights.administrator ? "owner" : (rights.roles.get(workspaceId) ?? null);
}

/** What is both granted and within the granter's rights as they are now. */
export function leastOf(grant: Grant, granter: Rights): Rights {
  if (grant.administrator) return granter;
  const held = roleIn(granter, grant.workspaceId);
  const roles = new Map(held === null ? [] : [[grant.workspaceId, lowerRole(held, grant.role)] as const]);
  return { administrator: false, roles };
}

function lowerRole(one: WorkspaceRole, other: WorkspaceRole): WorkspaceRole {
  return workspaceRoles.indexOf(one) <= workspaceRoles.indexOf(other) ? one : other;
}
