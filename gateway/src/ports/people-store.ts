import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { AdminToken, ConsoleUser, Invitation, LeaverKeys, Member } from "@sluice/contract/console";
import type { AuditAction, AuditObject, WorkspaceRole } from "@sluice/contract/words";
import type { Actor, Grant, LimitScope, Rights } from "#core/index.ts";

/** The actor of a change and their address, for the audit log. */
export interface AuditSource {
  readonly actor: string;
  readonly ip: string | null;
}

/** Something that happened, as a row of the audit log. */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly object: AuditObject;
  /** null: it concerns the installation. */
  readonly workspaceId: string | null;
  readonly after?: unknown;
}

export interface Paged<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
}

export interface TakenReset {
  readonly userId: string;
  readonly expiresAt: number;
}

/** Somebody who is made without an invitation. */
export interface NewUser {
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** argon2id, as a PHC string; null: they set one by a link, or sign in by an issuer. */
  readonly passwordHash: string | null;
  readonly grants: readonly Grant[];
}

/** A field that is left out does not change. */
export interface MemberChange {
  readonly role?: WorkspaceRole | undefined;
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | null | undefined;
  /** Asked within the write, of what they hold by then; null: nothing. What it throws undoes all of it. */
  readonly allow?: (held: WorkspaceRole | null) => void;
}

export interface AcceptedInvitation {
  readonly userId: string;
  readonly sessionId: string | null;
  readonly worth: (inviter: Rights, grant: Grant) => boolean;
}

export interface MemberLeaving {
  /** As in `removeUser`. */
  readonly keys: LeaverKeys | null;
  /** Keys whose calls are theirs become nobody else's: only who manages people puts somebody's spend on another. */
  readonly keepsSpend?: boolean;
  /** Asked within the write, of what they hold by then. */
  readonly allow?: (held: WorkspaceRole) => void;
}

/** Selects people. `search`: a part of the address or the name. */
export interface LimitedPersonFilter {
  readonly workspaceId: string | null;
  /** Only these. */
  readonly userIds?: readonly string[] | undefined;
  readonly search?: string | undefined;
}

/** What limits somebody in a workspace. */
export interface PersonScope {
  readonly workspaceId: string;
  readonly userId: string;
  readonly scope: LimitScope;
}

/**
 * Users of the console, their roles, invitations and admin tokens. One-time secrets are stored as digests. Every write
 * adds its audit row in the same transaction. This store does not check permissions: callers ask `identity` first.
 */
export interface PeopleStore {
  /** The current rights of a user. null: there is no such user, or it is disabled. */
  rightsOf(userId: string): Promise<Rights | null>;
  /**
   * The actor of a token, found by the digest of its secret. It never has more rights than its owner has now. null: the
   * token is not valid.
   */
  tokenActor(digest: string): Promise<Actor | null>;
  listUsers(search: string | null, cursor: string | null, limit: number): Promise<Paged<ConsoleUser>>;
  user(userId: string): Promise<ConsoleUser | null>;
  userByEmail(email: string): Promise<ConsoleUser | null>;
  /** Throws `conflict` for an address that somebody has. */
  createUser(user: NewUser, auditSource: AuditSource): Promise<ConsoleUser>;
  /** Without the old one. Ends the sessions of the user and their link to a new password. */
  setPassword(userId: string, passwordHash: string, auditSource: AuditSource): Promise<void>;
  /**
   * Ends the user's sessions when the rights change. Throws `conflict` when no administrator would be left. `keys`: what
   * happens to the keys that the user can no longer manage.
   */
  updateUser(
    userId: string,
    change: { readonly administrator?: boolean; readonly disabled?: boolean; readonly keys?: LeaverKeys | undefined },
    auditSource: AuditSource,
  ): Promise<ConsoleUser>;
  /**
   * Removes the user with all memberships, tokens, invitations, sessions and credentials. The audit log keeps what they
   * did. Throws `conflict` for the last administrator, and `missing_required_parameter` when they made keys that are not
   * revoked and `keys` does not say what happens to those.
   */
  removeUser(userId: string, keys: LeaverKeys | null, auditSource: AuditSource): Promise<void>;
  /**
   * Removes the authenticator app and its backup codes; with `passkeys`, the passkeys too. Ends all sessions and every
   * sign-in that has begun. Throws `conflict` when there is nothing to remove.
   */
  resetSecondFactor(
    userId: string,
    taken: { readonly passkeys: boolean },
    auditSource: AuditSource,
  ): Promise<ConsoleUser>;
  /** Makes an existing user the first administrator. `isNew`: it was made for that. false: there is an administrator already. */
  makeFirstAdministrator(userId: string, auditSource: AuditSource, isNew?: boolean): Promise<boolean>;
  administratorExists(): Promise<boolean>;
  listMembers(workspaceId: string): Promise<readonly Member[]>;
  /**
   * Gives a user a role in a workspace. Throws `conflict` for the last owner who would be owner no more. A higher role ends
   * the user's sessions, so that a stolen session never gains rights.
   */
  setMember(workspaceId: string, userId: string, role: WorkspaceRole, auditSource: AuditSource): Promise<Member>;
  /** The same with what limits them there. Throws `not_found` for who is no member and gets no role. */
  updateMember(workspaceId: string, userId: string, change: MemberChange, auditSource: AuditSource): Promise<Member>;
  /** Whom something limits in a workspace, by its slug and their address. */
  limitedPeople(filter: LimitedPersonFilter, limit: number): Promise<readonly PersonScope[]>;
  /**
   * Removes a member with the admin tokens that they made for this workspace. Throws `not_found` if they are no member,
   * `conflict` for the last owner.
   */
  removeMember(workspaceId: string, userId: string, leaving: MemberLeaving, auditSource: AuditSource): Promise<void>;
  listInvitations(workspaceId: string | null): Promise<readonly Invitation[]>;
  /** Replaces an open invitation for the same address and place. `digest`: of the secret in the link. */
  invite(
    invitation: {
      readonly email: string;
      readonly grant: Grant;
      readonly invitedBy: string;
      readonly digest: string;
      readonly expiresAt: number;
    },
    auditSource: AuditSource,
  ): Promise<Invitation>;
  invitation(id: string): Promise<Invitation | null>;
  invitationByDigest(digest: string): Promise<Invitation | null>;
  /**
   * Gives the user what the invitation grants, and removes the invitation. The user never loses a higher role. false: the
   * invitation was used or removed before, or is `worth` nothing by what its maker holds by then. Ends the sessions of a user who
   * gains rights: all of them for an administrator, otherwise all but the one that accepts.
   */
  acceptInvitation(id: string, accepting: AcceptedInvitation, auditSource: AuditSource): Promise<boolean>;
  revokeInvitation(id: string, auditSource: AuditSource): Promise<void>;
  /** `ownerId` null: everybody's. */
  listTokens(ownerId: string | null, cursor: string | null, limit: number): Promise<Paged<AdminToken>>;
  token(id: string): Promise<AdminToken | null>;
  createToken(
    token: {
      readonly name: string;
      readonly grant: Grant;
      readonly ownerId: string;
      readonly digest: string;
      readonly prefix: string;
      readonly expiresAt: number | null;
      /** The token that makes this one. This one never has more rights than that, and is removed with it. */
      readonly madeWith?: string;
      /** A directory's: it may do SCIM and nothing else, while its maker is an administrator. */
      readonly scim?: boolean;
    },
    auditSource: AuditSource,
  ): Promise<AdminToken>;
  /** Also revokes the tokens that it made. */
  revokeToken(id: string, auditSource: AuditSource): Promise<void>;
  /** Stores a one-time link to set a new password. Only the newest link of a user is valid. */
  createReset(userId: string, digest: string, expiresAt: number, auditSource: AuditSource): Promise<void>;
  /** Uses up a reset link. null: it is not valid. */
  takeReset(digest: string): Promise<TakenReset | null>;
  /** Adds an audit row for an event outside these stores: a sign-in, a backup, a look at captured bodies. */
  note(event: AuditEvent, auditSource: AuditSource): Promise<void>;
}
