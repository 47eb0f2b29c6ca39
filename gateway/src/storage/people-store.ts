import type { PeopleStore } from "#ports/index.ts";
import { administratorExists, makeFirstAdministrator } from "./people-administrators.ts";
import { acceptInvitation, invite, listInvitations, oneInvitation, revokeInvitation } from "./people-invitations.ts";
import { listMembers, removeMember, setMember } from "./people-members.ts";
import { note } from "./people-notes.ts";
import { createReset, takeReset } from "./people-resets.ts";
import { resetSecondFactor } from "./people-second-factors.ts";
import { createToken, listTokens, oneToken, revokeToken, rightsOf, tokenActor } from "./people-tokens.ts";
import { listUsers, oneUser, removeUser, updateUser } from "./people-users.ts";
import type { PeopleOptions } from "./people-write.ts";

/** Who may open the console and what they hold there. */
export function createPeopleStore(options: PeopleOptions): PeopleStore {
  const { database, clock } = options;
  const { kysely } = database;
  return {
    rightsOf: (userId) => rightsOf(kysely, userId),
    tokenActor: (digest) => tokenActor(options, digest),
    listUsers: (search, cursor, limit) => listUsers(database, search, cursor, limit),
    user: (userId) => oneUser(kysely, "id", userId),
    userByEmail: (email) => oneUser(kysely, "email", email.toLowerCase()),
    updateUser: (userId, change, doer) => updateUser(options, userId, change, doer),
    removeUser: (userId, keys, doer) => removeUser(options, { userId, keys }, doer),
    resetSecondFactor: (userId, taken, doer) => resetSecondFactor(options, userId, taken, doer),
    makeFirstAdministrator: (userId, doer) => makeFirstAdministrator(options, userId, doer),
    administratorExists: () => administratorExists(kysely),
    listMembers: (workspaceId) => listMembers(kysely, workspaceId),
    setMember: (workspaceId, userId, role, doer) => setMember(options, workspaceId, userId, role, doer),
    removeMember: (workspaceId, userId, keys, doer) => removeMember(options, { workspaceId, userId, keys }, doer),
    listInvitations: (workspaceId) => listInvitations(kysely, workspaceId, clock.now()),
    invite: (invitation, doer) => invite(options, invitation, doer),
    invitation: (id) => oneInvitation(kysely, "id", id, clock.now()),
    invitationByDigest: (digest) => oneInvitation(kysely, "digest", digest, clock.now()),
    acceptInvitation: (id, accepting, doer) => acceptInvitation(options, id, accepting, doer),
    revokeInvitation: (id, doer) => revokeInvitation(options, id, doer),
    listTokens: (ownerId, cursor, limit) => listTokens(database, ownerId, cursor, limit),
    token: (id) => oneToken(kysely, id),
    createToken: (token, doer) => createToken(options, token, doer),
    revokeToken: (id, doer) => revokeToken(options, id, doer),
    createReset: (userId, digest, expiresAt, doer) => createReset(options, { userId, digest, expiresAt }, doer),
    takeReset: (digest) => takeReset(options, digest),
    note: (event, doer) => note(options, event, doer),
  };
}
