import type { RightsRule } from "@sluice/contract/config-file";
import type { WorkspaceRole } from "@sluice/contract/words";
import type { ApiKey, Claims, ConfigSnapshot } from "#core/index.ts";
import type { AuditEvent, AuditSource, KeyStore, RightsSource } from "#ports/index.ts";
import { type CallerKeyRow, callerKeys, type Database, keyByOldSecret, keyOf } from "#storage/tables.ts";
import { findPersonKey, isPersonDigest, keysOfPerson } from "./agents/agent-persons.ts";
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
  expiringTokens,
  hasKeys,
  key,
  limitedKeys,
  listKeys,
  resolveKey,
  revokeKey,
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
import {
  applyListPrices,
  createModel,
  modelRecord,
  modelRecords,
  removeModel,
  updateModel,
} from "./providers/models.ts";
import { oidcAccounts, putOidcAccount, removeOidcAccount } from "./providers/oidc-writes.ts";
import { listPrices, priceListIn, storePriceList } from "./providers/prices.ts";
import { createProvider, listProviders, provider, removeProvider, updateProvider } from "./providers/providers.ts";
import { applyClaims, previewClaims, rulesOf } from "./rights/claimed-rights.ts";
import {
  beginIssuerCheck,
  isManagedByFile,
  issuerChecks,
  putRules,
  reapplyAllRules,
  revokeByIssuer,
  rightsOfUser,
} from "./rights/rights.ts";
import { connectIdentity, scimStats } from "./scim/first-sign-in.ts";
import {
  changeScimGroup,
  createScimGroup,
  listScimGroups,
  oneScimGroup,
  reapplyGroupRights,
  removeScimGroup,
  type ScimGroup,
  type ScimGroupChange,
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
 * Workspaces, groups, keys, providers, models, settings, single sign-on, and the config file. Each write is one transaction with its
 * audit rows and change notices; a write that changes nothing leaves neither. `change` functions are pure and get the stored object.
 *
 * Throws `not_found`, also for an id of another workspace; `managed_by_file` for objects of the config file; `conflict` for a name
 * that is taken or a full list; `invalid_request` with `param` for a wrong field.
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
  /** Frozen, and read in one transaction. */
  configSnapshot: ({ database, vault, clock }: ControlDirectory): Promise<ConfigSnapshot> =>
    readConfigSnapshot(database, vault, clock.now()),
  limitedKeys,
  expiringTokens,

  workspaces: listWorkspaces,
  workspace: ({ database }: ControlDirectory, id: string) => oneWorkspace(database.kysely, "id", id),
  workspaceNamed: ({ database }: ControlDirectory, slug: string) => oneWorkspace(database.kysely, "slug", slug),
  groups,
  key,
  resolveKey,
  listKeys,
  hasKeys,
  listProviders,
  provider,
  listModels: ({ database, clock }: ControlDirectory) => modelRecords(database.kysely, clock.now()),
  model: ({ database, clock }: ControlDirectory, name: string) => modelRecord(database.kysely, name, clock.now()),
  listPrices,
  /** null: the built-in price list is in use. */
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
  revokeKey,
  createProvider,
  updateProvider,
  removeProvider,
  createModel,
  updateModel,
  removeModel,
  importModels,
  storePriceList,
  applyListPrices,
  updateSettings,
  putOidcAccount,
  removeOidcAccount,
};

/** The queries are compiled once, since every guess of a key runs them. */
function keyFinder(database: Database): (digest: string) => Promise<ApiKey | null> {
  const byDigest = callerKeys(database.reading).where("digest", "=", "").compile();
  const byOldDigest = callerKeys(database.reading).where("old_digest", "=", "").compile();
  return async (digest) => {
    if (isPersonDigest(digest)) return await findPersonKey(database.reading, digest);
    const { rows } = await database.reading.executeQuery<CallerKeyRow>({ ...byDigest, parameters: [digest] });
    const [row] = rows;
    if (row !== undefined) return keyOf(row);
    const old = await database.reading.executeQuery<CallerKeyRow>({ ...byOldDigest, parameters: [digest] });
    const [rotated] = old.rows;
    return rotated === undefined ? null : keyByOldSecret(rotated);
  };
}

/**
 * Users of the console, their roles, invitations and admin tokens. One-time secrets are stored as digests. Permissions are not
 * checked here: callers check with `identity` first.
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
  setMember: (context: Write, workspaceId: string, userId: string, role: WorkspaceRole) =>
    updateMember(context, workspaceId, userId, { role }),
  updateMember,
  removeMember,
  invite,
  acceptInvitation,
  revokeInvitation,
  createToken,
  revokeToken,
  createReset,
  /** Audits an event outside these stores: a sign-in, a backup. */
  note: async ({ log }: Write, event: AuditEvent) => log.note(event),
};

/**
 * Rules that turn claims of identity providers into rights. Each right has a source, and only this source removes it; rights given by
 * hand (`manual`) belong to none. A user has the highest role of all sources. The last administrator and the last owner of a
 * workspace keep their role. Users of the config file have only the rights that the file declares.
 */
export type RightsStore = ReturnType<typeof createRightsStore>;

export function createRightsStore(directory: SealedDirectory) {
  return bindStore(directory, rightsReads, rightsWrites);
}

const rightsReads = {
  rules: ({ database, vault }: SealedDirectory, source: RightsSource) => rulesOf(database.kysely, vault, source),
  isManagedByFile,
  reapplyAllRules,
  /** The rights that rules would give; changes nothing. */
  tryClaims: ({ database }: SealedDirectory, rules: readonly RightsRule[], claims: Claims) =>
    previewClaims(database.kysely, rules, claims),
  rightsOfUser,
  issuerChecks,
  beginIssuerCheck,
};

const rightsWrites = {
  putRules,
  applyClaims,
  revokeByIssuer,
};

/**
 * Users and groups of an identity provider (SCIM; RFC 7643, 7644). Its users are users of the console. Throws `conflict`, with
 * `param` for a name or an address that is taken, and `not_found`.
 */
export type ScimStore = ReturnType<typeof createScimStore>;

export function createScimStore(directory: SealedDirectory) {
  const { createGroup, changeGroup, removeGroup, ...store } = bindStore(directory, scimReads, scimWrites);
  const settled = async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    await reapplyGroupRights(directory);
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
  stats: scimStats,
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
 * Sign-ins of coding agents (RFC 8628). All agents of a person in a workspace share a key without a secret, so that limits, grants and
 * the ledger work as for any key. `KeyStore` finds it by `personDigest`, and each sign-in by `sessionDigest`, while the person may
 * create keys there.
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
