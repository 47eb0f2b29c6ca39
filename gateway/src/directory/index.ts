/**
 * directory: workspaces, groups, keys, providers, models, guardrails, settings, people, their rights and coding agents, with rules and
 * SQL together. The admin API, the command line, the config file and identity providers (SCIM) write here.
 *
 * Promises: a write, its audit rows and its change notices are one transaction. Objects with the owner `file` belong to the
 * config file, those with `console` to the admin API. When the database is down, calls reject and no write is half done.
 */

export { type AgentSettingsVersion, type CurrentAgentSettings, settingsChecksum } from "./agents/agent-settings.ts";
export type { AgentGrant, AgentSession, WaitingDevice } from "./agents/agent-sign-ins.ts";
export type { PolicyDraft, PolicyRecord } from "./budgets/policy-rows.ts";
export type { GuardrailDraft, GuardrailRecord } from "./guardrails/guardrail-rows.ts";
export { usableCheck } from "./guardrails/guardrails.ts";
export type { KeyChange } from "./keys/key-rules.ts";
export type { ExpiringToken, NewKey } from "./keys/keys.ts";
export type { MemberChange } from "./people/members.ts";
export type { BillingAccount } from "./providers/billing.ts";
export { deploymentDraft } from "./providers/deployments.ts";
export { kindConflicts, type ProviderRecord } from "./providers/providers.ts";
export { ConfigConflict } from "./refusals.ts";
export type { IssuerCheck } from "./rights/rights.ts";
export type { ScimComparison, ScimFilter, ScimPage } from "./scim/scim-filter.ts";
export type { ScimGroup, ScimGroupChange, ScimMemberChange } from "./scim/scim-groups.ts";
export type { ScimUser, ScimUserForm } from "./scim/scim-users.ts";
export { ledgerExportLocation } from "./settings.ts";
export {
  type AgentStore,
  type ControlStore,
  createAgentStore,
  createControlStore,
  createPeopleStore,
  createRightsStore,
  createScimStore,
  type PeopleStore,
  type RightsStore,
  type ScimStore,
} from "./stores.ts";
export type { StoredWorkspace } from "./workspaces/workspace-rows.ts";
