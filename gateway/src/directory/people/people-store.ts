import type { PeopleStore } from "#ports/index.ts";
import { administratorExists, makeFirstAdministrator } from "./administrators.ts";
import { acceptInvitation, invite, listInvitations, oneInvitation, revokeInvitation } from "./invitations.ts";
import { listMembers, removeMember, updateMember } from "./members.ts";
import { note } from "./people-notes.ts";
import { type PeopleOptions, peopleContext } from "./people-rows.ts";
import { limitedPeople } from "./person-limits.ts";
import { createToken, listTokens, oneToken, revokeToken, rightsOf, tokenActor } from "./tokens.ts";
import { createReset, createUser, setPassword, takeReset } from "./user-creation.ts";
import { listUsers, oneUser, removeUser, resetSecondFactor, updateUser } from "./users.ts";

/** Who may open the console and what they hold there. */
export function createPeopleStore(dependencies: PeopleOptions): PeopleStore {
  const options = peopleContext(dependencies);
  const { database, clock } = options;
  const { kysely } = database;
  return {
    rightsOf: (userId) => rightsOf(kysely, userId),
    tokenActor: (digest) => tokenActor(options, digest),
    listUsers: (search, cursor, limit) => listUsers(database, search, cursor, limit),
    user: (userId) => oneUser(kysely, "id", userId),
    userByEmail: (email) => oneUser(kysely, "email", email.toLowerCase()),
    createUser: (user, auditSource) => createUser(options, user, auditSource),
    setPassword: (userId, passwordHash, auditSource) => setPassword(options, { userId, passwordHash }, auditSource),
    updateUser: (userId, change, auditSource) => updateUser(options, userId, change, auditSource),
    removeUser: (userId, keys, auditSource) => removeUser(options, { userId, keys }, auditSource),
    resetSecondFactor: (userId, taken, auditSource) => resetSecondFactor(options, userId, taken, auditSource),
    makeFirstAdministrator: (userId, auditSource, isNew = false) =>
      makeFirstAdministrator(options, { userId, isNew }, auditSource),
    administratorExists: () => administratorExists(kysely),
    listMembers: (workspaceId) => listMembers(kysely, workspaceId),
    setMember: (workspaceId, userId, role, auditSource) =>
      updateMember(options, { workspaceId, userId }, { role }, auditSource),
    updateMember: (workspaceId, userId, change, auditSource) =>
      updateMember(options, { workspaceId, userId }, change, auditSource),
    limitedPeople: (filter, limit) => limitedPeople(kysely, filter, limit),
    removeMember: (workspaceId, userId, leaving, auditSource) =>
      removeMember(options, { workspaceId, userId, ...leaving }, auditSource),
    listInvitations: (workspaceId) => listInvitations(kysely, workspaceId, clock.now()),
    invite: (invitation, auditSource) => invite(options, invitation, auditSource),
    invitation: (id) => oneInvitation(kysely, "id", id, clock.now()),
    invitationByDigest: (digest) => oneInvitation(kysely, "digest", digest, clock.now()),
    acceptInvitation: (id, accepting, auditSource) => acceptInvitation(options, id, accepting, auditSource),
    revokeInvitation: (id, auditSource) => revokeInvitation(options, id, auditSource),
    listTokens: (ownerId, cursor, limit) => listTokens(database, ownerId, cursor, limit),
    token: (id) => oneToken(kysely, id),
    createToken: (token, auditSource) => createToken(options, token, auditSource),
    revokeToken: (id, auditSource) => revokeToken(options, id, auditSource),
    createReset: (userId, digest, expiresAt, auditSource) =>
      createReset(options, { userId, digest, expiresAt }, auditSource),
    takeReset: (digest) => takeReset(options, digest),
    note: (event, auditSource) => note(options, event, auditSource),
  };
}
