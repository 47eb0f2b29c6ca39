import type { WorkspaceRole } from "@sluice/contract/words";
import type { AuditEvent, AuditSource } from "#ports/index.ts";
import { auditedWrite } from "#storage/tables.ts";
import { type BoundStore, bindStore } from "../bound-store.ts";
import { administratorExists, makeFirstAdministrator } from "./administrators.ts";
import { acceptInvitation, invite, listInvitations, oneInvitation, revokeInvitation } from "./invitations.ts";
import { listMembers, removeMember, updateMember } from "./members.ts";
import { type PeopleContext, type PeopleOptions, peopleContext } from "./people-rows.ts";
import { limitedPeople } from "./person-limits.ts";
import { createToken, listTokens, oneToken, revokeToken, rightsOf, tokenActor } from "./tokens.ts";
import { createReset, createUser, setPassword, takeReset } from "./user-creation.ts";
import { listUsers, oneUser, removeUser, resetSecondFactor, updateUser } from "./users.ts";

/**
 * Users of the console, their roles, invitations and admin tokens. One-time secrets are stored as digests. Each write adds its
 * audit row in the same transaction. Permissions are not checked here: callers ask `identity` first.
 */
export type PeopleStore = BoundStore<typeof functions>;

export function createPeopleStore(options: PeopleOptions): PeopleStore {
  return bindStore(peopleContext(options), functions);
}

const functions = {
  rightsOf: ({ database }: PeopleContext, userId: string) => rightsOf(database.kysely, userId),
  tokenActor,
  listUsers,
  user: ({ database }: PeopleContext, userId: string) => oneUser(database.kysely, "id", userId),
  userByEmail: ({ database }: PeopleContext, email: string) => oneUser(database.kysely, "email", email.toLowerCase()),
  createUser,
  setPassword,
  updateUser,
  removeUser,
  resetSecondFactor,
  makeFirstAdministrator,
  administratorExists: ({ database }: PeopleContext) => administratorExists(database.kysely),
  listMembers,
  setMember: (
    context: PeopleContext,
    workspaceId: string,
    userId: string,
    role: WorkspaceRole,
    auditSource: AuditSource,
  ) => updateMember(context, workspaceId, userId, { role }, auditSource),
  updateMember,
  limitedPeople,
  removeMember,
  listInvitations,
  invite,
  invitation: ({ database, clock }: PeopleContext, id: string) => oneInvitation(database.kysely, "id", id, clock.now()),
  invitationByDigest: ({ database, clock }: PeopleContext, digest: string) =>
    oneInvitation(database.kysely, "digest", digest, clock.now()),
  acceptInvitation,
  revokeInvitation,
  listTokens,
  token: ({ database }: PeopleContext, id: string) => oneToken(database.kysely, id),
  createToken,
  revokeToken,
  createReset,
  takeReset,
  note,
};

/** Adds an audit row for an event outside these stores: a sign-in, a backup. It waits for no other write about people. */
async function note({ database, clock }: PeopleContext, event: AuditEvent, auditSource: AuditSource): Promise<void> {
  await auditedWrite({ database, clock }, auditSource, async ({ log }) => log.note(event));
}
