import type { AdminToken, ConsoleUser, Invitation, LeaverKeys, Member } from "@sluice/contract/console";
import type { WorkspaceRole } from "@sluice/contract/words";
import type { Actor, Grant, Rights } from "#core/index.ts";

/** Who does something, for the audit row that it leaves. */
export interface AuditSource {
  readonly actor: string;
  readonly ip: string | null;
}

/** Something that happened, as a row of the audit log. */
export interface AuditEvent {
  readonly action: string;
  readonly object: string;
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

/**
 * Users as the console knows them, their roles, invitations and admin tokens. One-time secrets are stored by digest. Every
 * write leaves its audit row in the same transaction. Nothing here decides who may: callers have asked `identity` first.
 */
export interface PeopleStore {
  /** The rights of a user now; null when there is none or it is disabled. */
  rightsOf(userId: string): Promise<Rights | null>;
  /** A token's actor by the digest of its secret, cut down to what its maker may do now; null when it does not hold. */
  tokenActor(digest: string): Promise<Actor | null>;
  listUsers(search: string | null, cursor: string | null, limit: number): Promise<Paged<ConsoleUser>>;
  user(userId: string): Promise<ConsoleUser | null>;
  userByEmail(email: string): Promise<ConsoleUser | null>;
  /** Ends their sessions when it changes what they are. Throws `conflict` when it would leave no administrator. `keys`: of those that the user could no longer manage. */
  updateUser(
    userId: string,
    change: { readonly administrator?: boolean; readonly disabled?: boolean; readonly keys?: LeaverKeys | undefined },
    auditSource: AuditSource,
  ): Promise<ConsoleUser>;
  /**
   * With memberships, tokens, invitations, sessions and all they sign in with; their doings stay in the audit log. Throws
   * `conflict` for the last administrator, `missing_required_parameter` when keys of theirs are in use and nothing says
   * what becomes of them.
   */
  removeUser(userId: string, keys: LeaverKeys | null, auditSource: AuditSource): Promise<void>;
  /**
   * Takes the authenticator app with its backup codes, with `passkeys` those too, and ends every session and every sign-in
   * under way. Throws `conflict` when there is nothing to take.
   */
  resetSecondFactor(
    userId: string,
    taken: { readonly passkeys: boolean },
    auditSource: AuditSource,
  ): Promise<ConsoleUser>;
  /** The first administrator only; false when there is one. The user exists already. */
  makeFirstAdministrator(userId: string, auditSource: AuditSource): Promise<boolean>;
  administratorExists(): Promise<boolean>;
  listMembers(workspaceId: string): Promise<readonly Member[]>;
  /**
   * Throws `conflict` when it would leave the workspace without an owner that it had. Somebody new becomes a member. A role
   * above the one before ends their sessions: what a stolen one opens must not grow.
   */
  setMember(workspaceId: string, userId: string, role: WorkspaceRole, auditSource: AuditSource): Promise<Member>;
  /** With the tokens they made for it; `keys` as with a user who is removed. Throws `not_found` for who is none, `conflict` for the last owner. */
  removeMember(workspaceId: string, userId: string, keys: LeaverKeys | null, auditSource: AuditSource): Promise<void>;
  listInvitations(workspaceId: string | null): Promise<readonly Invitation[]>;
  /** Replaces an open invitation of the same address to the same place. `digest` is of the link's secret. */
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
   * Gives the user what it grants, never less than they had, and takes the invitation away, once; false: it was gone. Ends
   * their sessions: all of them for an administrator, else but the one they accept with.
   */
  acceptInvitation(
    id: string,
    accepting: { readonly userId: string; readonly sessionId: string | null },
    auditSource: AuditSource,
  ): Promise<boolean>;
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
      /** The token that makes it: what that one grants now bounds it, and it goes when that one goes. */
      readonly madeWith?: string;
    },
    auditSource: AuditSource,
  ): Promise<AdminToken>;
  /** With those it made. */
  revokeToken(id: string, auditSource: AuditSource): Promise<void>;
  /** One-time links to set a new password; the newest counts. */
  createReset(userId: string, digest: string, expiresAt: number, auditSource: AuditSource): Promise<void>;
  /** What a reset link stands for, which is used up by this; null when it does not hold. */
  takeReset(digest: string): Promise<TakenReset | null>;
  /** A row of the audit log for what happened outside these stores: sign-ins, a backup, a view of captured bodies. */
  note(event: AuditEvent, auditSource: AuditSource): Promise<void>;
}
