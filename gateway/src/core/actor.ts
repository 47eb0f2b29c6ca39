import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";

/**
 * The caller of the admin API: a user with a session, or an admin token. A token may do what both its grant and its creator's current
 * rights allow.
 */
export interface Actor extends Rights {
  readonly kind: "user" | "token";
  /** The user; for a token, its creator. */
  readonly userId: string;
  readonly tokenId?: string;
  /** Name in audit rows: the email address, with the token's name appended. */
  readonly name: string;
  /** Signed in recently enough for dangerous actions; always true for a token. */
  readonly fresh: boolean;
}

export interface Rights {
  readonly administrator: boolean;
  /** By workspace id. */
  readonly roles: ReadonlyMap<string, WorkspaceRole>;
}

/** The grant of an invitation or a token: the whole installation, or a role in one workspace. */
export type Grant =
  | { readonly administrator: true }
  | { readonly administrator: false; readonly workspaceId: string; readonly role: WorkspaceRole };

/** The role in a workspace; null if none. Administrators have every role everywhere. */
export function roleIn(rights: Rights, workspaceId: string): WorkspaceRole | null {
  return rights.administrator ? "owner" : (rights.roles.get(workspaceId) ?? null);
}

/** The rights that are both granted and within the granter's current rights. */
export function leastOf(grant: Grant, granter: Rights): Rights {
  if (grant.administrator) return granter;
  const held = roleIn(granter, grant.workspaceId);
  const roles = new Map(held === null ? [] : [[grant.workspaceId, lowerRole(held, grant.role)] as const]);
  return { administrator: false, roles };
}

function lowerRole(one: WorkspaceRole, other: WorkspaceRole): WorkspaceRole {
  return workspaceRoles.indexOf(one) <= workspaceRoles.indexOf(other) ? one : other;
}
