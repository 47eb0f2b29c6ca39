import type { RightsRule } from "@sluice/contract/config-file";
import type { WorkspaceRole } from "@sluice/contract/words";
import type { ApiKey, Claims, ConfigSnapshot } from "#core/index.ts";
import type { AuditEvent, AuditSource, KeyStore, RightsSource } from "#ports/index.ts";
import { type CallerKeyRow, callerKeys, type Database, keyByOldSecret, keyOf } from "#storage/tables.ts";
import { isPersonDigest, keysOfPerson, personKey } from "./agents/agent-persons.ts";
import {
  previewSettings,
  setSettings,
  settingsIn,
  settingsOf,
  settingsVersion,
  settingsVersions,
} from "./agents/agent-settings.ts";
import {
  addDevice,
  approveDevice,
  denyDevice,
  endSession,
  listSessions,
  ownerOf,
  pollDevice,
  refreshSession,
  waitingDevice,
} from "./agents/agent-sign-ins.ts";
import { applyConfig, planConfig, seedConfig } from "./config-file/apply-config.ts";
import { exportConfig } from "./config-file/config-export.ts";
import { readConfigSnapshot } from "./config-snapshot-reader.ts";
import {
  addKey,
  endingTokens,
  endKey,
  hasKeys,
  key,
  keyNamed,
  limitedKeys,
  listKeys,
  rotateKey,
  updateKey,
} from "./keys/keys.ts";
import { acceptInvitation, invite, listInvitations, oneInvitation, revokeInvitation } from "./people/invitations.ts";
import { listMembers, removeMember, updateMember } from "./people/members.ts";
import {
  administratorExists,
  createReset,
  createUser,
  makeFirstAdministrator,
  setPassword,
  takeReset,
} from "./people/new-users.ts";
import { limitedPeople } from "./people/person-limits.ts";
import { createToken, listTokens, oneToken, revokeToken, rightsOf, scimCaller, tokenActor } from "./people/tokens.ts";
import { listUsers, oneUser, removeUser, resetSecondFactor, updateUser } from "./people/users.ts";
import { importModels } from "./providers/model-import.ts";
import { createModel, modelRecord, modelRecords, removeModel, takePrices, updateModel } from "./providers/models.ts";
import { oidcAccounts, putOidcAccount, removeOidcAccount } from "./providers/oidc-writes.ts";
import { listPrices, priceListIn, storePriceList } from "./providers/prices.ts";
import { createProvider, listProviders, provider, removeProvider, updateProvider } from "./providers/providers.ts";
import { rulesOf, takeClaims, tryClaims } from "./rights/claimed-rights.ts";
import { beginAsking, given, issuersToAsk, ownedByFile, putRules, refuse, settle } from "./rights/rights.ts";
import { connectIdentity, numbers } from "./scim/first-sign-in.ts";
import {
  changeScimGroup,
  createScimGroup,
  listScimGroups,
  oneScimGroup,
  removeScimGroup,
  type ScimGroup,
  type ScimGroupChange,
  settleGroups,
} from "./scim/scim-groups.ts";
import { changeScimUser, createScimUser, listScimUsers, oneScimUser, removeScimUser } from "./scim/scim-users.ts";
import { settingsInForce, updateSettings } from "./settings.ts";
import { bindStore, type ControlDirectory, type Directory, type SealedDirectory, type Write } from "./store.ts";
import { addGroup, groups, removeGroup, updateGroup } from "./workspaces/groups.ts";
import {
  addWorkspace,
  listWorkspaces,
  oneWorkspace,
  removeWorkspace,
  updateWorkspace,
} from "./workspaces/workspaces.ts";

/**
 * Who may call what, and where it goes: workspaces, groups, keys, providers, models, settings, single sign-on, and the config file
 * over all of them. Each write is one transaction with its audit rows and the change notice that tells every process. A write that
 * changes nothing leaves neither. A `change` function is pure; it gets what is stored at that moment.
 *
 * Refusals are Failures: `not_found`, also for an id of another workspace than the one named; `managed_by_file` for what the config
 * file owns; `conflict` for a name that is taken or a list that is full; `invalid_request` with `param` for a wrong field.
 */
export type ControlStore = ReturnType<typeof createControlStore>;

export function createControlStore(directory: ControlDirectory) {
  return {
    ...bindStore(directory, controlReads, controlWrites),
    find: keyFinder(directory.database),
  } satisfies KeyStore;
}

const controlReads = {
  async keyById({ database }: ControlDirectory, id: string): Promise<ApiKey | null> {
    const row = await callerKeys(database.reading).where("api_keys.id", "=", id).executeTakeFirst();
    return row === undefined ? null : keyOf(row);
  },
  /** The whole configuration of calls, as a frozen snapshot of one moment. */
  configSnapshot: ({ database, vault, clock }: ControlDirectory): Promise<ConfigSnapshot> =>
    readConfigSnapshot(database, vault, clock.now()),
  limitedKeys,
  endingTokens,

  workspaces: listWorkspaces,
  workspace: ({ database }: ControlDirectory, id: string) => oneWorkspace(database.kysely, "id", id),
  workspaceNamed: ({ database }: ControlDirectory, slug: string) => oneWorkspace(database.kysely, "slug", slug),
  groups,
  key,
  keyNamed,
  listKeys,
  hasKeys,
  listProviders,
  provider,
  listModels: ({ database, clock }: ControlDirectory) => modelRecords(database.kysely, clock.now()),
  model: ({ database, clock }: ControlDirectory, name: string) => modelRecord(database.kysely, name, clock.now()),
  listPrices,
  /** null: the one that comes with the program is in use. */
  storedPriceList: ({ database }: ControlDirectory) => priceListIn(database.kysely),
  settings: settingsInForce,
  oidcAccounts,

  apply: applyConfig,
  plan: planConfig,
  seed: seedConfig,
  exportConfig,
};

const controlWrites = {
  addWorkspace,
  updateWorkspace,
  removeWorkspace,
  addGroup,
  updateGroup,
  removeGroup,
  addKey,
  updateKey,
  rotateKey,
  endKey,
  createProvider,
  updateProvider,
  removeProvider,
  createModel,
  updateModel,
  removeModel,
  importModels,
  storePriceList,
  takePrices,
  updateSettings,
  putOidcAccount,
  removeOidcAccount,
};

/** Compiled once: guessed keys reach it at the rate of the guesser. */
function keyFinder(database: Database): (digest: string) => Promise<ApiKey | null> {
  const byDigest = callerKeys(database.reading).where("digest", "=", "").compile();
  const byOldDigest = callerKeys(database.reading).where("old_digest", "=", "").compile();
  return async (digest) => {
    if (isPersonDigest(digest)) return await personKey(database.reading, digest);
    const { rows } = await database.reading.executeQuery<CallerKeyRow>({ ...byDigest, parameters: [digest] });
    const [row] = rows;
    if (row !== undefined) return keyOf(row);
    const old = await database.reading.executeQuery<CallerKeyRow>({ ...byOldDigest, parameters: [digest] });
    const [rotated] = old.rows;
    return rotated === undefined ? null : keyByOldSecret(rotated);
  };
}

/**
 * Users of the console, their roles, invitations and admin tokens. One-time secrets are stored as digests. Each write adds its
 * audit row in the same transaction. Permissions are not checked here: callers ask `identity` first.
 */
export type PeopleStore = ReturnType<typeof createPeopleStore>;

export function createPeopleStore(directory: Directory) {
  return bindStore(directory, peopleReads, peopleWrites);
}

const peopleReads = {
  rightsOf: ({ database }: Directory, userId: string) => rightsOf(database.kysely, userId),
  tokenActor,
  listUsers,
  user: ({ database }: Directory, userId: string) => oneUser(database.kysely, "id", userId),
  userByEmail: ({ database }: Directory, email: string) => oneUser(database.kysely, "email", email.toLowerCase()),
  administratorExists: ({ database }: Directory) => administratorExists(database.kysely),
  listMembers,
  limitedPeople,
  listInvitations,
  invitation: ({ database, clock }: Directory, id: string) => oneInvitation(database.kysely, "id", id, clock.now()),
  invitationByDigest: ({ database, clock }: Directory, digest: string) =>
    oneInvitation(database.kysely, "digest", digest, clock.now()),
  listTokens,
  token: ({ database }: Directory, id: string) => oneToken(database.kysely, id),
  takeReset,
};

const peopleWrites = {
  createUser,
  setPassword,
  updateUser,
  removeUser,
  resetSecondFactor,
  makeFirstAdministrator,
  setMember: (under: Write, workspaceId: string, userId: string, role: WorkspaceRole) =>
    updateMember(under, workspaceId, userId, { role }),
  updateMember,
  removeMember,
  invite,
  acceptInvitation,
  revokeInvitation,
  createToken,
  revokeToken,
  createReset,
  /** Adds an audit row for an event outside these stores: a sign-in, a backup. */
  note: async ({ log }: Write, event: AuditEvent) => log.note(event),
};

/**
 * Rules that turn what sources say of people into rights, and the rights that they gave. A right has a source: what one gave, one
 * takes away again when its rules or claims give it no more; what was given by hand (`manual`) none touches. Somebody holds the
 * highest of what all give. The last administrator and the last owner of a workspace stay. Users of the config file hold what the
 * file says, and nothing else.
 */
export type RightsStore = ReturnType<typeof createRightsStore>;

export function createRightsStore(directory: SealedDirectory) {
  return bindStore(directory, rightsReads, rightsWrites);
}

const rightsReads = {
  rules: ({ database, vault }: SealedDirectory, source: RightsSource) => rulesOf(database.kysely, vault, source),
  ownedByFile,
  settle,
  /** What claims would give by these rules; changes nothing. */
  tryClaims: ({ database }: SealedDirectory, rules: readonly RightsRule[], claims: Claims) =>
    tryClaims(database.kysely, rules, claims),
  given,
  issuersToAsk,
  beginAsking,
};

const rightsWrites = {
  putRules,
  /** Keeps what the rules read of the claims, and puts it into rights. Gives what could not be taken away, in words. */
  take: takeClaims,
  refuse,
};

/**
 * Users and groups that a directory keeps here by SCIM (RFC 7643, 7644), as a second face of the people that there are. Throws
 * `conflict` with `param` for a name or an address that is taken, `conflict` without one for what may not be, and `not_found`.
 */
export type ScimStore = ReturnType<typeof createScimStore>;

export function createScimStore(directory: SealedDirectory) {
  const { createGroup, changeGroup, removeGroup, ...store } = bindStore(directory, scimReads, scimWrites);
  const settled = async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    await settleGroups(directory);
    return result;
  };
  return {
    ...store,
    createGroup: (change: ScimGroupChange & { readonly displayName: string }, auditSource: AuditSource) =>
      settled(createGroup(change, auditSource)),
    changeGroup: (id: string, change: (before: ScimGroup) => ScimGroupChange, auditSource: AuditSource) =>
      settled(changeGroup(id, change, auditSource)),
    removeGroup: (id: string, check: (before: ScimGroup) => void, auditSource: AuditSource) =>
      settled(removeGroup(id, check, auditSource)),
  };
}

const scimReads = {
  caller: scimCaller,
  numbers,
  users: listScimUsers,
  user: ({ database }: SealedDirectory, id: string) => oneScimUser(database.kysely, id),
  groups: listScimGroups,
  group: ({ database }: SealedDirectory, id: string, withMembers: boolean) =>
    oneScimGroup(database.kysely, id, withMembers),
  connect: connectIdentity,
};

const scimWrites = {
  createUser: createScimUser,
  changeUser: changeScimUser,
  removeUser: removeScimUser,
  createGroup: createScimGroup,
  changeGroup: changeScimGroup,
  removeGroup: removeScimGroup,
};

/**
 * Sign-ins of coding agents (RFC 8628). A person who signs an agent in calls with a key of their own in one workspace, which has
 * no secret: limits, grants and the ledger go by it as by any key. `KeyStore` finds it by `personDigest`, and each sign-in by
 * `sessionDigest`, while the person may make keys there; a change notice tells every process when that ends.
 */
export type AgentStore = ReturnType<typeof createAgentStore>;

export function createAgentStore(directory: Directory) {
  return bindStore(directory, agentReads, agentWrites);
}

const agentReads = {
  addDevice,
  waitingDevice,
  poll: pollDevice,
  refresh: refreshSession,
  ownerOf,
  keysOf: ({ database }: Directory, userId: string) => keysOfPerson(database.reading, userId),
  sessions: listSessions,
  settingsOf: ({ database }: Directory, groupId: string) => settingsOf(database.reading, groupId),
  settingsIn,
  settingsVersions,
  settingsVersion,
  previewSettings,
};

const agentWrites = { approve: approveDevice, deny: denyDevice, endSession, setSettings };
