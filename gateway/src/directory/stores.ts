import type { WorkspaceRole } from "@sluice/contract/words";
import type { ApiKey, ConfigSnapshot, Secret } from "#core/index.ts";
import type { AuditEvent, KeyStore, RightsSource } from "#ports/index.ts";
import { auditedWrite, type CallerKeyRow, callerKeys, type Database, keyByOldSecret, keyOf } from "#storage/tables.ts";
import * as agentKeys from "./agents/agent-keys.ts";
import * as agentSettings from "./agents/agent-settings.ts";
import * as agentSignIns from "./agents/agent-sign-ins.ts";
import * as policies from "./budgets/policies.ts";
import * as configFile from "./config-file/apply-config.ts";
import { exportConfig } from "./config-file/config-export.ts";
import { readConfigSnapshot } from "./config-snapshot-reader.ts";
import * as guardrails from "./guardrails/guardrails.ts";
import type * as importing from "./imports/run-import.ts";
import type * as undoing from "./imports/undo-import.ts";
import * as keyRequests from "./keys/key-requests.ts";
import * as keys from "./keys/keys.ts";
import * as invitations from "./people/invitations.ts";
import * as members from "./people/members.ts";
import * as newUsers from "./people/new-users.ts";
import { limitedPeople } from "./people/person-limits.ts";
import * as shares from "./people/playground-shares.ts";
import * as views from "./people/saved-views.ts";
import * as tokens from "./people/tokens.ts";
import * as users from "./people/users.ts";
import { billingAccounts } from "./providers/billing.ts";
import { importModels } from "./providers/model-import.ts";
import * as models from "./providers/models.ts";
import * as oidc from "./providers/oidc-accounts.ts";
import * as prices from "./providers/prices.ts";
import * as providers from "./providers/providers.ts";
import * as claimedRights from "./rights/claimed-rights.ts";
import * as rights from "./rights/rights.ts";
import { connectIdentity, scimStats } from "./scim/first-sign-in.ts";
import * as scimGroups from "./scim/scim-groups.ts";
import * as scimUsers from "./scim/scim-users.ts";
import { currentSettings, updateSettings } from "./settings.ts";
import { bindStore, type ControlDirectory, type Directory, type SealedDirectory, type Write } from "./store.ts";
import * as groups from "./workspaces/groups.ts";
import * as workspaces from "./workspaces/workspaces.ts";

/**
 * Workspaces, groups, keys, providers, models, guardrails, settings, single sign-on, and the config file. Each write is one transaction with its
 * audit rows and change notices; a write that changes nothing has neither. `change` functions are pure and get the stored object.
 *
 * Throws `not_found`, also for an id of another workspace; `managed_by_file` for objects of the config file; `conflict` for a name
 * that is in use or a full list; `invalid_request` with `param` for a wrong field.
 */
export type ControlStore = ReturnType<typeof createControlStore>;

export function createControlStore(directory: ControlDirectory) {
  return {
    ...bindStore(directory, controlReads, controlWrites),
    find: keyFinder(directory.database),
    // Not in the audit log: no person changes anything.
    adoptSecret: (digest: string, secret: Secret) =>
      auditedWrite({ ...directory, owner: "console" as const }, { actor: "first use", ip: null }, (context) =>
        keys.adoptSecret(context, digest, secret),
      ),
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
  limitedKeys: keys.limitedKeys,
  expiringTokens: keys.expiringTokens,
  expiringKeys: keys.expiringKeys,

  workspaces: workspaces.listWorkspaces,
  workspace: ({ database }: ControlDirectory, id: string) => workspaces.oneWorkspace(database.kysely, "id", id),
  workspaceNamed: ({ database }: ControlDirectory, slug: string) =>
    workspaces.oneWorkspace(database.kysely, "slug", slug),
  groups: groups.groups,
  key: keys.key,
  resolveKey: keys.resolveKey,
  listKeys: keys.listKeys,
  hasKeys: keys.hasKeys,
  keyRequests: keyRequests.keyRequests,
  keyRequest: keyRequests.keyRequest,
  reportedKeyRequests: keyRequests.reportedKeyRequests,
  listProviders: providers.listProviders,
  billingAccounts,
  provider: providers.provider,
  listModels: ({ database, clock }: ControlDirectory) => models.modelRecords(database.kysely, clock.now()),
  model: ({ database, clock }: ControlDirectory, name: string) =>
    models.modelRecord(database.kysely, name, clock.now()),
  listPrices: prices.listPrices,
  /** null: the built-in price list is in use. */
  storedPriceList: ({ database }: ControlDirectory) => prices.priceListIn(database.kysely),
  budgetPolicies: policies.listBudgetPolicies,
  guardrails: guardrails.listGuardrails,
  inheritedGuardrails: guardrails.inheritedGuardrails,
  settings: currentSettings,
  oidcAccounts: oidc.oidcAccounts,

  runImport: async (...args: Parameters<typeof importing.runImport>) =>
    (await import("./imports/run-import.ts")).runImport(...args),
  undoImport: async (...args: Parameters<typeof undoing.undoImport>) =>
    (await import("./imports/undo-import.ts")).undoImport(...args),
  apply: configFile.applyConfig,
  plan: configFile.planConfig,
  seed: configFile.seedConfig,
  exportConfig,
};

const controlWrites = {
  addWorkspace: workspaces.addWorkspace,
  updateWorkspace: workspaces.updateWorkspace,
  removeWorkspace: workspaces.removeWorkspace,
  addGroup: groups.addGroup,
  updateGroup: groups.updateGroup,
  removeGroup: groups.removeGroup,
  addKey: keys.addKey,
  updateKey: keys.updateKey,
  rotateKey: keys.rotateKey,
  revokeKey: keys.revokeKey,
  createKeyRequest: keyRequests.createKeyRequest,
  approveKeyRequest: keyRequests.approveKeyRequest,
  declineKeyRequest: keyRequests.declineKeyRequest,
  withdrawKeyRequest: keyRequests.withdrawKeyRequest,
  collectKey: keyRequests.collectKey,
  createProvider: providers.createProvider,
  updateProvider: providers.updateProvider,
  removeProvider: providers.removeProvider,
  createModel: models.createModel,
  updateModel: models.updateModel,
  removeModel: models.removeModel,
  importModels,
  storePriceList: prices.storePriceList,
  applyListPrices: models.applyListPrices,
  createBudgetPolicy: policies.createBudgetPolicy,
  updateBudgetPolicy: policies.updateBudgetPolicy,
  removeBudgetPolicy: policies.removeBudgetPolicy,
  createGuardrail: guardrails.createGuardrail,
  updateGuardrail: guardrails.updateGuardrail,
  removeGuardrail: guardrails.removeGuardrail,
  updateSettings,
  putOidcAccount: oidc.putOidcAccount,
  removeOidcAccount: oidc.removeOidcAccount,
};

/** Compiles the queries once, since every attempt to guess a key runs them. */
function keyFinder(database: Database): (digest: string) => Promise<ApiKey | null> {
  const byDigest = callerKeys(database.reading).where("digest", "=", "").compile();
  const byOldDigest = callerKeys(database.reading).where("old_digest", "=", "").compile();
  return async (digest) => {
    if (agentKeys.isPersonDigest(digest)) return await agentKeys.findPersonKey(database.reading, digest);
    const { rows } = await database.reading.executeQuery<CallerKeyRow>({ ...byDigest, parameters: [digest] });
    const [row] = rows;
    if (row !== undefined) return keyOf(row);
    const old = await database.reading.executeQuery<CallerKeyRow>({ ...byOldDigest, parameters: [digest] });
    const [rotated] = old.rows;
    return rotated === undefined ? null : keyByOldSecret(rotated);
  };
}

/**
 * Users of the console, their roles, invitations and admin tokens. One-time secrets are stored as digests. Callers must check
 * permissions first, with `identity`.
 */
export type PeopleStore = ReturnType<typeof createPeopleStore>;

export function createPeopleStore(directory: Directory) {
  return bindStore(directory, peopleReads, peopleWrites);
}

const peopleReads = {
  rightsOf: ({ database }: Directory, userId: string) => tokens.rightsOf(database.kysely, userId),
  tokenActor: tokens.tokenActor,
  listUsers: users.listUsers,
  emailsOf: users.emailsOf,
  user: ({ database }: Directory, userId: string) => users.oneUser(database.kysely, "id", userId),
  userByEmail: ({ database }: Directory, email: string) => users.oneUser(database.kysely, "email", email.toLowerCase()),
  administratorExists: ({ database }: Directory) => newUsers.administratorExists(database.kysely),
  listMembers: members.listMembers,
  limitedPeople,
  listInvitations: invitations.listInvitations,
  invitation: (directory: Directory, id: string) => invitations.oneInvitation(directory, "id", id),
  invitationByDigest: (directory: Directory, digest: string) => invitations.oneInvitation(directory, "digest", digest),
  listTokens: tokens.listTokens,
  expiringAdminTokens: tokens.expiringAdminTokens,
  token: ({ database }: Directory, id: string) => tokens.oneToken(database.kysely, id),
  takeReset: newUsers.takeReset,
  savedViews: views.savedViews,
  playgroundShares: shares.playgroundShares,
  playgroundShare: shares.playgroundShare,
};

const peopleWrites = {
  createUser: newUsers.createUser,
  setPassword: newUsers.setPassword,
  updateUser: users.updateUser,
  removeUser: users.removeUser,
  resetSecondFactor: users.resetSecondFactor,
  makeFirstAdministrator: newUsers.makeFirstAdministrator,
  setMember: (context: Write, workspaceId: string, userId: string, role: WorkspaceRole) =>
    members.updateMember(context, workspaceId, userId, { role }),
  updateMember: members.updateMember,
  removeMember: members.removeMember,
  invite: invitations.invite,
  acceptInvitation: invitations.acceptInvitation,
  revokeInvitation: invitations.revokeInvitation,
  createToken: tokens.createToken,
  revokeToken: tokens.revokeToken,
  createReset: newUsers.createReset,
  createView: views.createView,
  updateView: views.updateView,
  removeView: views.removeView,
  createPlaygroundShare: shares.createPlaygroundShare,
  removePlaygroundShare: shares.removePlaygroundShare,
  /** Audits an event outside these stores: a sign-in, a backup. */
  note: async ({ log }: Write, event: AuditEvent) => log.note(event),
};

/**
 * Rules that turn claims of identity providers into rights. Each right has a source, and only this source removes it; the source of
 * rights that were set in the console is `manual`. A user has the highest role of all sources. The last administrator and the last
 * owner of a workspace keep their role. Users of the config file have only the rights that the file declares.
 */
export type RightsStore = ReturnType<typeof createRightsStore>;

export function createRightsStore(directory: SealedDirectory) {
  return bindStore(directory, rightsReads, rightsWrites);
}

const rightsReads = {
  rules: ({ database, vault }: SealedDirectory, source: RightsSource) =>
    claimedRights.rulesOf(database.kysely, vault, source),
  isManagedByFile: rights.isManagedByFile,
  reapplyAllRules: rights.reapplyAllRules,
  tryClaims: claimedRights.tryClaims,
  rightsOfUser: rights.rightsOfUser,
  issuerChecks: rights.issuerChecks,
  beginIssuerCheck: rights.beginIssuerCheck,
};

const rightsWrites = {
  putRules: rights.putRules,
  applyClaims: claimedRights.applyClaims,
  revokeByIssuer: rights.revokeByIssuer,
};

/**
 * Users and groups of an identity provider (SCIM; RFC 7643, 7644). Its users are users of the console. Throws `conflict`, with
 * `param` for a name or an address that is in use, and `not_found`.
 */
export type ScimStore = ReturnType<typeof createScimStore>;

export function createScimStore(directory: SealedDirectory) {
  const { createGroup, changeGroup, removeGroup, ...store } = bindStore(directory, scimReads, scimWrites);
  /** Rights change after the transaction of the group, so that it blocks no other write for long. */
  const thenReapplyRights =
    <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const result = await write(...args);
      await scimGroups.reapplyGroupRights(directory);
      return result;
    };
  return {
    ...store,
    createGroup: thenReapplyRights(createGroup),
    changeGroup: thenReapplyRights(changeGroup),
    removeGroup: thenReapplyRights(removeGroup),
  };
}

const scimReads = {
  caller: tokens.scimCaller,
  stats: scimStats,
  users: scimUsers.listScimUsers,
  user: ({ database }: SealedDirectory, id: string) => scimUsers.oneScimUser(database.kysely, id),
  groups: scimGroups.listScimGroups,
  group: scimGroups.oneScimGroup,
  connect: connectIdentity,
};

const scimWrites = {
  createUser: scimUsers.createScimUser,
  changeUser: scimUsers.changeScimUser,
  removeUser: scimUsers.removeScimUser,
  createGroup: scimGroups.createScimGroup,
  changeGroup: scimGroups.changeScimGroup,
  removeGroup: scimGroups.removeScimGroup,
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
  addDevice: agentSignIns.addDevice,
  waitingDevice: agentSignIns.waitingDevice,
  poll: agentSignIns.pollDevice,
  refresh: agentSignIns.refreshSession,
  ownerOf: agentSignIns.ownerOf,
  keysOf: agentKeys.keysOfPerson,
  sessions: agentSignIns.listSessions,
  settingsOf: agentSettings.settingsOf,
  settingsIn: agentSettings.settingsIn,
  settingsVersions: agentSettings.settingsVersions,
  settingsVersion: agentSettings.settingsVersion,
  previewSettings: agentSettings.previewSettings,
};

const agentWrites = {
  approve: agentSignIns.approveDevice,
  deny: agentSignIns.denyDevice,
  endSession: agentSignIns.endSession,
  setSettings: agentSettings.setSettings,
};
